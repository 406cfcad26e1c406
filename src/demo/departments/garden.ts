import { coats, glazes } from '../colours.js';
import type { Department } from '../department.js';
import { gardenLiving } from './garden-living.js';

export const garden: Department = {
  id: 'garden',
  name: 'Garden',
  children: [
    {
      id: 'garden-tools',
      name: 'Garden tools',
      brands: ['lowenzahn-sohne', 'jarnbjork', 'gronnevang', 'kurotsuchi'],
      kinds: [
        {
          noun: 'secateurs',
          price: [29, 89],
          colours: ['red', 'black'],
          brands: ['lowenzahn-sohne', 'kurotsuchi', 'jarnbjork'],
          about: [
            'A bypass blade that cuts cleanly through living wood up to 2 cm.',
            'Light in the hand, with a catch you can work in gloves.',
          ],
        },
        {
          noun: 'hand trowel',
          price: [14, 38],
          colours: ['ash', 'oak'],
          about: [
            'A forged blade with a depth scale for bulbs and seedlings.',
            'Stiff enough to lever out a dandelion.',
          ],
        },
        {
          noun: 'border spade',
          price: [44, 98],
          step: 12,
          sizes: ['95 cm', '110 cm'],
          brands: ['lowenzahn-sohne', 'jarnbjork', 'gronnevang'],
          about: [
            'A narrow blade with a tread edge, for work between plants.',
            'One piece of steel from the blade well up the shaft.',
          ],
        },
        {
          noun: 'watering can',
          price: [24, 69],
          step: 25,
          sizes: ['3 l', '6 l', '9 l'],
          colours: coats,
          brands: ['lowenzahn-sohne', 'gronnevang'],
          about: [
            'A long spout with a brass rose that can be taken off.',
            'Balanced so that it pours without a bent wrist.',
          ],
        },
        {
          noun: 'garden hose',
          price: [29, 59],
          step: 45,
          sizes: ['15 m', '25 m', '50 m'],
          colours: ['forest green', 'slate grey'],
          brands: ['lowenzahn-sohne', 'gronnevang'],
          about: [
            'Stays supple in the cold and does not kink.',
            'Drinking-water safe, with brass couplings at both ends.',
          ],
        },
        {
          noun: 'pruning saw',
          price: [28, 76],
          step: 15,
          sizes: ['18 cm', '24 cm'],
          brands: ['kurotsuchi', 'jarnbjork', 'lowenzahn-sohne'],
          about: [
            'Cuts on the pull stroke and folds into its handle.',
            'Three-edged teeth that leave a smooth cut which heals well.',
          ],
        },
      ],
      notes: [
        'Spare parts can be ordered one by one.',
        'Hang it up dry and it will last for decades.',
        'The shape has hardly changed in fifty years, for good reason.',
        'Suits left- and right-handed gardeners.',
        'A ten-year guarantee comes with it.',
      ],
    },
    {
      id: 'garden-pots',
      name: 'Pots & planters',
      brands: ['gronnevang', 'poterie-argilune', 'lowenzahn-sohne'],
      kinds: [
        {
          noun: 'terracotta pot',
          price: [9, 29],
          step: 60,
          sizes: ['Ø 14 cm', 'Ø 20 cm', 'Ø 28 cm', 'Ø 36 cm'],
          brands: ['gronnevang', 'lowenzahn-sohne'],
          about: [
            'Hand-pressed clay that breathes and ages well.',
            'A classic shape with a thick rim and a hole for drainage.',
          ],
        },
        {
          noun: 'glazed planter',
          price: [26, 68],
          step: 45,
          sizes: ['Ø 18 cm', 'Ø 25 cm', 'Ø 34 cm'],
          colours: glazes,
          brands: ['poterie-argilune', 'gronnevang'],
          about: [
            'A planter with a saucer in the same glaze.',
            'Deep enough for herbs, wide enough for a small olive tree.',
          ],
        },
        {
          noun: 'window box',
          price: [24, 58],
          step: 25,
          sizes: ['60 cm', '80 cm', '100 cm'],
          colours: coats,
          brands: ['gronnevang', 'lowenzahn-sohne'],
          about: [
            'A slim trough of galvanised steel with brackets for a railing.',
            'A water reservoir in the base covers a long weekend.',
          ],
        },
        {
          noun: 'raised bed',
          price: [119, 229],
          step: 30,
          sizes: ['80 × 80 cm', '120 × 80 cm', '160 × 80 cm'],
          brands: ['gronnevang', 'lowenzahn-sohne'],
          about: [
            'Larch boards that slot together at the corners without tools.',
            'A good working height, and room for a summer of salad.',
          ],
        },
        {
          noun: 'hanging planter',
          price: [18, 44],
          colours: glazes,
          brands: ['poterie-argilune', 'gronnevang'],
          about: [
            'A shallow bowl on a cotton cord for trailing plants.',
            'Hangs level, with a stopper for use indoors.',
          ],
        },
      ],
      notes: [
        'Frost-proof down to −15 °C.',
        'Drains freely, which is what most roots want.',
        'Suited to balconies as well as gardens.',
        'Plants are not included.',
        'Looks best in company.',
      ],
    },
    {
      id: 'garden-seeds',
      name: 'Seeds & bulbs',
      brands: ['gronnevang', 'lowenzahn-sohne'],
      kinds: [
        {
          names: [
            "Tomato 'Black Plum'",
            "Tomato 'Yellow Pear'",
            "Courgette 'Striato'",
            "Runner bean 'Painted Lady'",
            "Beetroot 'Chioggia'",
            "Carrot 'Autumn King'",
            "Kale 'Nero'",
            "Lettuce 'Four Seasons'",
            "Radish 'French Breakfast'",
            "Sugar snap pea 'Norli'",
            "Pumpkin 'Hokkaido'",
            "Spinach 'Winter Giant'",
          ],
          price: [2, 4],
          step: 120,
          sizes: ['seed packet', 'allotment pack'],
          about: [
            'An old, open-pollinated variety with plenty of flavour.',
            'Easy to grow, and generous over a long season.',
            'Saves true from seed, so one packet can last for years.',
          ],
        },
        {
          names: [
            "Sunflower 'Velvet Queen'",
            'Cornflower, blue',
            'Sweet pea, mixed',
            'Love-in-a-mist',
            "Poppy 'Ladybird'",
            'Cosmos, white & pink',
            'Nasturtium, climbing',
            'Bee meadow mix',
            'Foxglove, apricot',
            "Marigold 'Nana'",
          ],
          price: [2, 4],
          step: 130,
          sizes: ['seed packet', 'seeds for 10 m²'],
          about: [
            'Flowers from June until the first frost.',
            'Loved by bees and other pollinators.',
            'Sow it where it is to flower and keep it moist.',
          ],
        },
        {
          names: [
            "Tulip bulbs 'Queen of Night'",
            'Daffodil bulbs, white',
            'Crocus bulbs, mixed',
            'Snowdrop bulbs',
            'Allium bulbs, purple',
            'Grape hyacinth bulbs',
            'Hyacinth bulbs, white',
            'Winter aconite bulbs',
          ],
          price: [4, 9],
          step: 110,
          sizes: ['10 pcs', '25 pcs', '50 pcs'],
          about: [
            'Firm bulbs of the largest grade, freshly lifted.',
            'Plant to three times its own depth and leave it be.',
          ],
        },
      ],
      notes: [
        'Certified organic.',
        'Sowing and planting times are on the packet.',
        'Keep it dry and cool until you use it.',
        'Does well in most soils.',
        'Suitable for pots and beds.',
      ],
    },
    gardenLiving,
  ],
};
