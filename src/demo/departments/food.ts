import type { Department } from '../department.js';
import { foodPantry } from './food-pantry.js';

export const food: Department = {
  id: 'food',
  name: 'Food & drink',
  children: [
    foodPantry,
    {
      id: 'food-drinks',
      name: 'Coffee & tea',
      children: [
        {
          id: 'food-coffee',
          name: 'Coffee',
          brands: ['cafe-merlenoir', 'rosterei-nebelkai'],
          kinds: [
            {
              noun: 'espresso beans',
              price: [8, 13],
              step: 80,
              sizes: ['250 g', '500 g', '1 kg'],
              about: [
                'A dark, round espresso with cocoa and roasted hazelnut.',
                'A classic blend with a thick crema and little acidity.',
              ],
            },
            {
              noun: 'filter coffee, whole bean',
              price: [9, 15],
              step: 80,
              sizes: ['250 g', '500 g', '1 kg'],
              about: [
                'Lightly roasted, with a clear cup of red apple and caramel.',
                'Juicy and floral, best from a dripper or a press.',
              ],
            },
            {
              noun: 'ground coffee',
              price: [7, 12],
              step: 80,
              sizes: ['250 g', '500 g'],
              about: [
                'Ground for filter machines and French presses.',
                'An easy-going breakfast coffee, ground on the day it is roasted.',
              ],
            },
            {
              noun: 'decaf beans',
              price: [9, 14],
              step: 80,
              sizes: ['250 g', '500 g'],
              about: [
                'Decaffeinated with spring water, so nothing is lost but the caffeine.',
                'Milk chocolate and dried fig, at any hour of the evening.',
              ],
            },
          ],
          notes: [
            'Bought directly from small growers.',
            'Best between one and eight weeks after roasting.',
            'The bag closes again and keeps the aroma in.',
            'Goes well with milk.',
            'Also good as a cold brew.',
          ],
        },
        {
          id: 'food-tea',
          name: 'Tea',
          brands: ['amagumo', 'bramblecote'],
          kinds: [
            {
              noun: 'sencha',
              price: [12, 34],
              step: 70,
              sizes: ['50 g', '100 g'],
              brands: ['amagumo'],
              about: [
                'A steamed green tea, fresh as cut grass with a savoury depth.',
                'First-flush leaves, deep green and gently sweet.',
              ],
            },
            {
              noun: 'matcha',
              price: [24, 58],
              step: 70,
              sizes: ['30 g tin', '80 g tin'],
              brands: ['amagumo'],
              about: [
                'Shaded for three weeks and ground slowly between granite stones.',
                'Vivid green, creamy and free of bitterness.',
              ],
            },
            {
              noun: 'hojicha',
              price: [10, 22],
              step: 70,
              sizes: ['50 g', '100 g'],
              brands: ['amagumo'],
              about: [
                'Roasted green tea with the scent of caramel and warm bread.',
                'Low in caffeine and kind to the stomach.',
              ],
            },
            {
              noun: 'breakfast tea',
              price: [5, 10],
              step: 60,
              sizes: ['125 g loose', '250 g loose'],
              brands: ['bramblecote'],
              about: [
                'Brisk and malty, and strong enough to stand up to milk.',
                'A blend for mornings that need a push.',
              ],
            },
            {
              noun: 'mint & lemon balm infusion',
              price: [4, 8],
              step: 60,
              sizes: ['40 g', '80 g'],
              brands: ['bramblecote'],
              about: [
                'Whole dried leaves from the herb garden, and nothing else.',
                'Cooling after a meal, soothing before bed.',
              ],
            },
          ],
          notes: [
            'Keep airtight and dry.',
            'How hot and how long is written on the packet.',
            'Enough for a good many cups.',
            'Also pleasant on ice.',
            'Picked, dried and packed without additives.',
          ],
        },
      ],
    },
    {
      id: 'food-chocolate',
      name: 'Chocolate & biscuits',
      brands: ['ombrelune', 'grubenthal'],
      kinds: [
        {
          noun: 'dark chocolate, {size}',
          price: [3, 7],
          step: 10,
          sizes: ['64 %', '72 %', '85 %'],
          about: [
            'A snappy bar with notes of red fruit and toasted nuts.',
            'Conched for three days until it is perfectly smooth.',
          ],
        },
        {
          noun: 'milk chocolate with sea salt',
          price: [3, 6],
          step: 150,
          sizes: ['80 g', '250 g'],
          about: [
            'Creamy milk chocolate with a crunch of sea salt.',
            'A salted bar that rarely survives the evening.',
          ],
        },
        {
          noun: 'hazelnut praline assortment, {size}',
          price: [12, 19],
          step: 75,
          sizes: ['9 pcs', '16 pcs', '25 pcs'],
          about: [
            'Pralines with roasted hazelnuts, dipped and decorated by hand.',
            'A box of soft, crisp and melting centres.',
          ],
        },
        {
          noun: 'butter biscuits',
          price: [5, 9],
          step: 70,
          sizes: ['150 g', '300 g tin'],
          about: [
            'Thin, crisp biscuits with a lot of butter and a little lemon.',
            'Crumbly biscuits for coffee, tea and unexpected guests.',
          ],
        },
        {
          noun: 'drinking chocolate',
          price: [7, 13],
          step: 70,
          sizes: ['200 g', '500 g'],
          about: [
            'Fine chocolate flakes that melt into hot milk.',
            'Thick, dark and not too sweet.',
          ],
        },
      ],
      notes: [
        'Allergens are listed on the packaging.',
        'Keep between 15 and 18 °C.',
        'Certified organic.',
        'A present that needs no wrapping.',
        'In summer we ship it with a cooling pack.',
      ],
    },
  ],
};
