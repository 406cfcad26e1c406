import { coats, glazes } from '../colours.js';
import type { Department } from '../department.js';

export const kitchenCooking: Department = {
  id: 'kitchen-cooking',
  name: 'Cooking & baking',
  children: [
    {
      id: 'kitchen-pans',
      name: 'Pots & pans',
      brands: ['brasero-alto', 'fjellgryte', 'oat-anvil'],
      kinds: [
        {
          noun: 'cast-iron skillet',
          price: [32, 74],
          step: 22,
          sizes: ['20 cm', '24 cm', '28 cm'],
          about: [
            'A heavy skillet that browns evenly and goes from the hob straight into the oven.',
            'Cast in one piece, with a pouring lip on either side and a helper handle.',
          ],
        },
        {
          noun: 'enamelled casserole',
          price: [89, 189],
          step: 20,
          sizes: ['3.5 l', '4.5 l', '6 l'],
          colours: coats,
          about: [
            'A casserole for stews, bread and Sunday roasts, enamelled inside and out.',
            'Drops on the inside of the lid return the steam to the dish, so roasts stay moist.',
          ],
        },
        {
          noun: 'saucepan with lid',
          price: [39, 84],
          step: 18,
          sizes: ['1 l', '1.5 l', '2.5 l'],
          about: [
            'A saucepan with a measuring scale inside and a rim that pours without dripping.',
            'The thick base spreads the heat, so milk and custard do not catch.',
          ],
        },
        {
          noun: 'carbon-steel wok',
          price: [36, 69],
          step: 20,
          sizes: ['30 cm', '34 cm'],
          about: [
            'Light enough to toss with one hand and quick to take the heat.',
            'A flat-bottomed wok that stands steady on gas, induction and open fire.',
          ],
        },
        {
          noun: 'stock pot',
          price: [54, 109],
          step: 25,
          sizes: ['6 l', '9 l', '12 l'],
          about: [
            'A tall pot for stock, pasta and preserving, with riveted handles that stay secure.',
            'Room for a whole chicken, a heap of bones or a batch of jam jars.',
          ],
        },
      ],
      notes: [
        'Works on every hob, induction included.',
        'Wash by hand and dry at once; it gets better with every meal.',
        'The handles stay on for good: they are riveted or cast, never glued.',
        'Oven-safe up to 250 °C.',
        'A care leaflet comes with it.',
      ],
    },
    {
      id: 'kitchen-knives',
      name: 'Knives & boards',
      brands: ['kurotsuchi', 'jarnbjork', 'fjellgryte'],
      kinds: [
        {
          noun: "chef's knife",
          price: [69, 219],
          step: 15,
          sizes: ['18 cm', '21 cm', '24 cm'],
          colours: ['oak', 'walnut'],
          about: [
            'The knife for nearly everything: herbs, onions, meat and squash.',
            'A balanced blade with a gentle curve that rocks easily through herbs.',
          ],
        },
        {
          noun: 'paring knife',
          price: [24, 79],
          step: 10,
          sizes: ['8 cm', '10 cm'],
          colours: ['oak', 'walnut'],
          about: [
            'A short, nimble knife for peeling, trimming and turning.',
            'Small enough to work in the hand, sharp enough for tomato skins.',
          ],
        },
        {
          noun: 'bread knife',
          price: [49, 129],
          step: 12,
          sizes: ['22 cm', '26 cm'],
          colours: ['oak', 'walnut'],
          about: [
            'Wide teeth that cut through a hard crust and leave the crumb whole.',
            'A long serrated blade for sourdough, sponge cakes and ripe tomatoes.',
          ],
        },
        {
          noun: 'chopping board',
          price: [29, 94],
          step: 30,
          sizes: ['30 × 20 cm', '40 × 28 cm', '50 × 35 cm'],
          colours: ['oak', 'walnut', 'ash'],
          brands: ['jarnbjork', 'fjellgryte'],
          about: [
            'End-grain wood that is kind to the edge of a knife.',
            'A solid board with a groove for juices on one side and a plain face on the other.',
          ],
        },
        {
          noun: 'whetstone',
          price: [29, 89],
          step: 20,
          sizes: ['grit 400/1000', 'grit 1000/3000', 'grit 3000/8000'],
          brands: ['kurotsuchi', 'jarnbjork'],
          about: [
            'Two grits in one stone, on a base that does not slip.',
            'Brings a tired edge back in ten minutes with nothing but water.',
          ],
        },
      ],
      notes: [
        'Not for the dishwasher.',
        'Keep it dry between uses.',
        'Our sharpening service will gladly advise you on care.',
        'A good first piece for a kitchen that will be used every day.',
        'Made to be used daily and kept for decades.',
      ],
    },
    {
      id: 'kitchen-baking',
      name: 'Baking',
      brands: ['fjellgryte', 'brasero-alto', 'poterie-argilune'],
      kinds: [
        {
          noun: 'loaf tin',
          price: [14, 34],
          step: 20,
          sizes: ['20 cm', '25 cm', '30 cm'],
          brands: ['fjellgryte', 'brasero-alto'],
          about: [
            'Folded from one sheet of steel, so there is no seam for dough to stick in.',
            'A loaf tin with straight sides for tall sandwich bread and pound cake.',
          ],
        },
        {
          noun: 'springform tin',
          price: [17, 39],
          step: 18,
          sizes: ['18 cm', '22 cm', '26 cm'],
          brands: ['fjellgryte', 'brasero-alto'],
          about: [
            'The clasp closes tight enough for a runny cheesecake.',
            'A springform with a flat, rimless base from which a cake slides off whole.',
          ],
        },
        {
          noun: 'pie dish',
          price: [22, 49],
          step: 20,
          sizes: ['24 cm', '28 cm'],
          colours: glazes,
          brands: ['poterie-argilune', 'fjellgryte'],
          about: [
            'A fluted dish that goes from the freezer to the oven to the table.',
            'Thick stoneware that keeps a crumble hot until the second helping.',
          ],
        },
        {
          noun: 'mixing bowl',
          price: [18, 46],
          step: 25,
          sizes: ['1.5 l', '2.5 l', '4 l'],
          colours: glazes,
          brands: ['poterie-argilune', 'fjellgryte'],
          about: [
            'A deep bowl with a spout and a thumb rest.',
            'Heavy enough to stay put while you whisk with both hands.',
          ],
        },
        {
          noun: 'rolling pin',
          price: [16, 38],
          step: 15,
          sizes: ['40 cm', '48 cm'],
          colours: ['ash', 'walnut', 'oak'],
          brands: ['fjellgryte'],
          about: [
            'A tapered pin without handles that lets you feel the dough.',
            'Turned from one piece of wood and finished with linseed oil.',
          ],
        },
      ],
      notes: [
        'Tested in our own kitchen on bread, tarts and birthday cakes.',
        'A tried recipe is printed on the sleeve.',
        'Easy to clean with warm water and a soft brush.',
        'Good-looking enough to leave out.',
        'Made to last for many winters of baking.',
      ],
    },
  ],
};
