import { leathers, linens, wools } from '../colours.js';
import type { Department } from '../department.js';

export const familyPets: Department = {
  id: 'family-pets',
  name: 'Pets',
  children: [
    {
      id: 'family-dogs',
      name: 'Dogs',
      brands: ['pawsgrove', 'wexmoor-daughters'],
      kinds: [
        {
          noun: 'dog bed',
          price: [59, 129],
          step: 30,
          sizes: ['S', 'M', 'L'],
          colours: wools,
          about: [
            'A raised rim for the head and a cover that comes off to wash.',
            'Firm enough for old joints, soft enough for long naps.',
          ],
        },
        {
          noun: 'leather collar',
          price: [24, 54],
          step: 12,
          sizes: ['30–36 cm', '36–44 cm', '44–52 cm'],
          colours: leathers,
          about: [
            'Vegetable-tanned leather with a solid brass buckle.',
            'Soft edges and room for a name tag.',
          ],
        },
        {
          noun: 'rope lead',
          price: [24, 49],
          step: 15,
          sizes: ['1.5 m', '2.5 m'],
          colours: ['navy', 'rust', 'olive'],
          about: [
            'Climbing rope with a strong, quiet hook.',
            'Sits softly in the hand, even with a strong dog at the other end.',
          ],
        },
        {
          noun: 'waxed dog coat',
          price: [49, 89],
          step: 15,
          sizes: ['S', 'M', 'L', 'XL'],
          colours: ['olive', 'navy'],
          about: [
            'Keeps rain off the back and leaves the legs free.',
            'A warm lining, and a flap for the harness.',
          ],
        },
        {
          noun: 'stoneware dog bowl',
          price: [19, 39],
          step: 30,
          sizes: ['0.5 l', '1 l'],
          colours: ['cream', 'slate grey', 'sage'],
          brands: ['pawsgrove'],
          about: [
            'Too heavy to push around the kitchen.',
            'A wide, glazed bowl for food or water.',
          ],
        },
        {
          noun: 'training treats',
          price: [4, 9],
          step: 110,
          sizes: ['100 g', '300 g'],
          brands: ['pawsgrove'],
          about: [
            'Tiny, soft pieces of duck and potato.',
            'Air-dried and grain-free, and gone in a moment.',
          ],
        },
      ],
      notes: [
        'Suits town and country dogs alike.',
        'Tested on long walks.',
        'When in doubt, take the larger one.',
        'For good dogs, and for the others.',
        'Approved by our office dog.',
      ],
    },
    {
      id: 'family-cats',
      name: 'Cats',
      brands: ['schnurrwinkel', 'pawsgrove'],
      kinds: [
        {
          noun: 'scratching post',
          price: [39, 99],
          step: 35,
          sizes: ['60 cm', '90 cm', '120 cm'],
          colours: ['natural', 'charcoal'],
          about: ['Thick sisal on a base that does not tip.', 'Tall enough for a full stretch.'],
        },
        {
          noun: 'cat tree',
          price: [119, 289],
          step: 30,
          sizes: ['110 cm', '150 cm'],
          colours: ['cream', 'charcoal'],
          about: [
            'Two lookouts, a cave and a sunny platform.',
            'Solid wood and wool felt instead of plush.',
          ],
        },
        {
          noun: 'felt cat cave',
          price: [49, 89],
          colours: wools,
          about: [
            'A round hiding place with one entrance and no draught.',
            'Made from a single piece of wool felt.',
          ],
        },
        {
          noun: 'teaser wand',
          price: [9, 19],
          about: [
            'Feathers on a springy rod, with a spare set in the box.',
            'Five minutes a day replace a whole mouse hunt.',
          ],
        },
        {
          noun: 'window hammock',
          price: [34, 64],
          colours: linens,
          about: [
            'Hangs from the window frame and holds up to 8 kg.',
            'The best place in the house for watching birds.',
          ],
        },
        {
          noun: 'catnip mice, {size}',
          price: [7, 12],
          step: 70,
          sizes: ['3 pcs', '6 pcs'],
          about: [
            'Wool mice filled with dried catnip.',
            'Small, light and made to be carried off.',
          ],
        },
      ],
      notes: [
        'Made without plastic.',
        'Cats choose the box it comes in first; be patient.',
        'Free of dyes that come off on paws.',
        'Approved by shy cats, too.',
        'For cats of all ages.',
      ],
    },
  ],
};
