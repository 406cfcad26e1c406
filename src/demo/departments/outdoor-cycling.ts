import { brights, gear } from '../colours.js';
import type { Department } from '../department.js';

export const outdoorCycling: Department = {
  id: 'outdoor-cycling',
  name: 'Cycling',
  children: [
    {
      id: 'outdoor-bikes',
      name: 'Bicycles',
      brands: ['cycles-tournevent', 'speichenwald'],
      kinds: [
        {
          noun: 'city bike',
          price: [690, 1190],
          sizes: ['S', 'M', 'L'],
          colours: ['sage', 'navy', 'cream', 'black'],
          about: [
            'Upright, quiet and fully equipped, with a belt drive and hub gears.',
            'A low step-through frame with mudguards and a proper carrier.',
          ],
        },
        {
          noun: 'touring bike',
          price: [1190, 2290],
          sizes: ['S', 'M', 'L', 'XL'],
          colours: ['forest green', 'black', 'burgundy'],
          about: [
            'A steel frame that carries luggage without wandering.',
            'Wide gears, hub dynamo and room for broad tyres.',
          ],
        },
        {
          noun: 'e-bike',
          price: [2290, 3690],
          sizes: ['S', 'M', 'L'],
          colours: ['graphite', 'sage', 'navy'],
          about: [
            'A calm mid-motor with a range of about 90 km.',
            'Looks like a bicycle and rides like a tailwind.',
          ],
        },
        {
          noun: "children's bike, {size}",
          price: [249, 399],
          step: 18,
          sizes: ['16"', '20"', '24"'],
          colours: brights,
          about: [
            'Light, with small brake levers for small hands.',
            'A low saddle and a short reach make the first metres easy.',
          ],
        },
        {
          noun: 'cargo bike',
          price: [2990, 4690],
          colours: ['black', 'sky blue', 'forest green'],
          about: [
            'A long box in front takes two children or eight bags of shopping.',
            'Stable at walking pace and quick to park.',
          ],
        },
      ],
      notes: [
        'Delivered ready to ride.',
        'The first inspection is free.',
        'Mudguards, bell and lights are fitted.',
        'The frame is guaranteed for ten years.',
        'Come and try it in our showroom.',
      ],
    },
    {
      id: 'outdoor-bike-parts',
      name: 'Bicycle parts & accessories',
      brands: ['cycles-tournevent', 'speichenwald'],
      kinds: [
        {
          noun: 'bicycle helmet',
          price: [49, 119],
          sizes: ['S', 'M', 'L'],
          colours: ['white', 'black', 'sage', 'yellow'],
          about: [
            'A light helmet with a magnetic buckle and wide vents.',
            'Adjusts with one dial, and has a rear light built in.',
          ],
        },
        {
          noun: 'pannier, {size}',
          price: [59, 109],
          step: 20,
          sizes: ['15 l', '20 l', '25 l'],
          colours: gear,
          about: [
            'Waterproof, reflective and off the carrier in a second.',
            'Hooks on firmly and carries over the shoulder.',
          ],
        },
        {
          noun: 'folding lock',
          price: [49, 99],
          step: 15,
          sizes: ['85 cm', '100 cm'],
          about: [
            'Six hardened links in a rattle-free holder.',
            'Long enough for a lamp post, short enough for the frame.',
          ],
        },
        {
          noun: 'bicycle light set',
          price: [34, 89],
          about: [
            'Front and rear lights that charge by USB-C.',
            'Bright enough for country lanes, with a clean cut-off.',
          ],
        },
        {
          noun: 'leather saddle',
          price: [69, 139],
          colours: ['black', 'cognac'],
          about: [
            'Takes two hundred kilometres to break in, and then fits only you.',
            'Thick hide, copper rivets and a tension bolt.',
          ],
        },
        {
          noun: 'floor pump',
          price: [34, 74],
          about: [
            'Reaches 11 bar and fits every valve.',
            'A wide foot, a long hose and a gauge you can read standing.',
          ],
        },
        {
          noun: 'bicycle bell',
          price: [9, 24],
          colours: ['brass', 'copper', 'black'],
          about: [
            'A clear, friendly ding that carries.',
            'Mounts on any handlebar with one screw.',
          ],
        },
      ],
      notes: [
        'Made to be used in all weathers.',
        'A good present for anyone who rides.',
        'Our workshop is glad to advise you.',
        'Built for commuting through the winter.',
        'Spare parts in stock.',
      ],
    },
  ],
};
