import { brights } from '../colours.js';
import type { Department } from '../department.js';
import { familyPets } from './family-pets.js';

export const family: Department = {
  id: 'family',
  name: 'Children & pets',
  children: [
    {
      id: 'family-toys',
      name: 'Wooden toys',
      brands: ['little-otterbank', 'kastanje-kind'],
      kinds: [
        {
          noun: 'building blocks, {size}',
          price: [24, 44],
          step: 60,
          sizes: ['30 pcs', '60 pcs', '100 pcs'],
          about: [
            'Beech blocks cut so exactly that towers really grow.',
            'Arches, bridges and beams in plain and stained wood.',
          ],
        },
        {
          noun: 'wooden train set',
          price: [39, 89],
          step: 45,
          sizes: ['20 pcs', '38 pcs'],
          about: [
            'An engine, three wagons and enough track for a figure of eight.',
            'Fits the tracks of other common wooden railways.',
          ],
        },
        {
          noun: 'stacking rainbow',
          price: [29, 69],
          step: 40,
          sizes: ['6 arches', '12 arches'],
          about: [
            'A bridge, a cave, a cradle, a fence: it depends on the day.',
            'Sawn from one block, so that the arches nest.',
          ],
        },
        {
          noun: 'pull-along duck',
          price: [19, 36],
          colours: brights,
          about: [
            'Waddles and clacks behind those who have just learned to walk.',
            'Rubber tyres and a cord that does not tangle.',
          ],
        },
        {
          noun: "doll's pram",
          price: [59, 119],
          colours: ['natural', 'sage', 'dusty rose'],
          about: [
            'Steady enough to learn to walk with.',
            'Wooden wheels with rubber rims, and bedding included.',
          ],
        },
        {
          noun: 'shape sorter',
          price: [22, 42],
          about: [
            'Eight shapes, eight holes and a satisfying rattle.',
            'A sturdy box with a lid that small hands can lift.',
          ],
        },
      ],
      notes: [
        'From twelve months, unless the box says otherwise.',
        'Conforms to EN 71.',
        'Sanded smooth and finished with beeswax.',
        'No batteries, no noise but their own.',
        'Wipe clean with a damp cloth.',
      ],
    },
    {
      id: 'family-games',
      name: 'Games & puzzles',
      brands: ['golondrina-papel', 'kastanje-kind', 'little-otterbank'],
      kinds: [
        {
          names: [
            'The Lighthouse Keepers',
            'Market Day',
            'Nine Lanterns',
            'Hedgehog, Hedgehog!',
            'The Slow Train',
            'Foxes & Geese',
            'Salt Harbour',
            'Who Took the Jam?',
            'Cloud Shepherds',
            "The Beekeeper's Year",
            'Upside-Down Town',
            'Three Bridges',
          ],
          price: [19, 44],
          step: -30,
          sizes: ['board game', 'travel edition'],
          about: [
            'A game of quick choices for two to five players.',
            'Explained in five minutes and over in forty.',
            'A quiet, friendly game in which everybody wins or nobody does.',
          ],
        },
        {
          names: [
            'Alpine Meadow',
            'Harbour at Dusk',
            "The Botanist's Desk",
            'Forty Owls',
            'Night Market',
            'Map of Invented Islands',
            'Mushrooms of the Forest',
            'The Old Observatory',
            'Winter Birds',
            'A Street in Spring',
          ],
          price: [12, 19],
          step: 40,
          sizes: ['jigsaw, 500 pcs', 'jigsaw, 1000 pcs', 'jigsaw, 2000 pcs'],
          brands: ['golondrina-papel'],
          about: [
            'Thick board, a linen finish and pieces that click.',
            'An original illustration with plenty to discover.',
          ],
        },
        {
          noun: 'playing cards',
          price: [7, 14],
          colours: ['navy', 'burgundy', 'forest green'],
          about: [
            'Two packs in a case, with original court cards.',
            'Linen-finished cards that shuffle like new for years.',
          ],
        },
        {
          noun: 'memory game',
          price: [14, 26],
          about: [
            'Thirty pairs of animals, leaves and shells.',
            'Thick tiles for small fingers and good eyes.',
          ],
        },
        {
          noun: 'domino set',
          price: [14, 32],
          colours: ['natural', 'walnut'],
          brands: ['kastanje-kind', 'little-otterbank'],
          about: [
            'Twenty-eight wooden tiles in a sliding box.',
            'Pictures on one side, dots on the other.',
          ],
        },
      ],
      notes: [
        'For rainy Sundays.',
        'Replacement pieces are free.',
        'Suitable for grandparents.',
        'A box that closes properly and fits the shelf.',
        'From six years up.',
      ],
    },
    familyPets,
  ],
};
