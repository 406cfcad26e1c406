import type { Department } from '../department.js';

export const foodPantry: Department = {
  id: 'food-pantry',
  name: 'Pantry',
  children: [
    {
      id: 'food-oil',
      name: 'Oil & vinegar',
      brands: ['olivar-del-cierzo', 'bramblecote'],
      kinds: [
        {
          noun: 'extra virgin olive oil',
          price: [8, 19],
          step: 75,
          sizes: ['250 ml', '500 ml', '1 l', '3 l tin'],
          brands: ['olivar-del-cierzo'],
          about: [
            'Cold-pressed within hours of picking: green, peppery and a little bitter.',
            'A mellow oil with notes of almond and ripe tomato.',
          ],
        },
        {
          noun: 'lemon-pressed olive oil',
          price: [9, 17],
          step: 60,
          sizes: ['250 ml', '500 ml'],
          brands: ['olivar-del-cierzo'],
          about: [
            'Olives and whole lemons crushed together at the mill.',
            'Bright and fragrant on grilled fish, beans and vanilla ice cream.',
          ],
        },
        {
          noun: 'sherry vinegar',
          price: [7, 18],
          step: 60,
          sizes: ['250 ml', '500 ml'],
          brands: ['olivar-del-cierzo'],
          about: [
            'Aged in oak casks until dark, nutty and round.',
            'A few drops lift a lentil soup or a tomato salad.',
          ],
        },
        {
          noun: 'cider vinegar',
          price: [5, 10],
          step: 60,
          sizes: ['250 ml', '500 ml', '1 l'],
          brands: ['bramblecote'],
          about: [
            'Unfiltered vinegar from windfall apples, with the mother left in.',
            'Fresh and fruity, for dressings, pickles and shrubs.',
          ],
        },
        {
          noun: 'cold-pressed rapeseed oil',
          price: [6, 11],
          step: 70,
          sizes: ['250 ml', '500 ml'],
          brands: ['bramblecote'],
          about: [
            'Golden and nutty, with a taste of spring cabbage.',
            'Good for roasting potatoes and for a plain mayonnaise.',
          ],
        },
      ],
      notes: [
        'Keep it cool and away from light.',
        'Best within three months of opening.',
        'The bottle or tin is returnable and recyclable.',
        'A good thing to bring to a dinner.',
        'Bottled to order.',
      ],
    },
    {
      id: 'food-pasta',
      name: 'Pasta, rice & grains',
      brands: ['pastificio-sorgiva'],
      kinds: [
        {
          noun: 'spaghetti',
          price: [2, 5],
          step: 85,
          sizes: ['500 g', '1 kg'],
          about: [
            'Drawn through bronze dies, so that the sauce clings.',
            'Slow-dried for two days for a firm bite.',
          ],
        },
        {
          noun: 'paccheri',
          price: [3, 6],
          step: 85,
          sizes: ['500 g', '1 kg'],
          about: [
            'Wide tubes for a chunky ragù or a seafood sauce.',
            'Generous tubes that fold over the sauce as they cook.',
          ],
        },
        {
          noun: 'orecchiette',
          price: [3, 6],
          step: 85,
          sizes: ['500 g', '1 kg'],
          about: [
            'Little ears with a rough hollow, made for turnip tops and sausage.',
            'Pressed by thumb, one by one.',
          ],
        },
        {
          noun: 'risotto rice',
          price: [4, 8],
          step: 80,
          sizes: ['500 g', '1 kg', '2 kg'],
          about: [
            'Plump grains that turn creamy and stay firm at the heart.',
            'Grown in flooded fields and husked slowly in stone mills.',
          ],
        },
        {
          noun: 'stone-ground polenta',
          price: [3, 6],
          step: 75,
          sizes: ['500 g', '1 kg'],
          about: [
            'Coarse maize flour with the germ left in.',
            'Forty minutes of stirring, and worth every one.',
          ],
        },
        {
          noun: 'tipo 00 flour',
          price: [2, 4],
          step: 80,
          sizes: ['1 kg', '5 kg'],
          about: [
            'Fine, soft flour for pizza and fresh egg pasta.',
            'Milled so finely that it feels like silk.',
          ],
        },
      ],
      notes: [
        'Keep dry and cool.',
        'Made without additives.',
        'From grain grown in the Po valley.',
        'The paper bag goes into the recycling.',
        'A storecupboard staple.',
      ],
    },
    {
      id: 'food-preserves',
      name: 'Jams, honey & pickles',
      brands: ['bramblecote', 'olivar-del-cierzo'],
      kinds: [
        {
          noun: 'blackberry jam',
          price: [4, 8],
          step: 50,
          sizes: ['220 g', '340 g'],
          brands: ['bramblecote'],
          about: [
            'Two parts fruit to one part sugar, cooked in open pans.',
            'Dark, sharp and full of seeds.',
          ],
        },
        {
          noun: 'Seville orange marmalade',
          price: [5, 8],
          step: 50,
          sizes: ['220 g', '340 g'],
          brands: ['bramblecote'],
          about: [
            'Thick-cut peel in a bitter, amber jelly.',
            'Cooked each January, when the oranges arrive.',
          ],
        },
        {
          noun: 'wildflower honey',
          price: [7, 14],
          step: 70,
          sizes: ['250 g', '500 g', '1 kg'],
          about: [
            'Raw honey from hives at the edge of the fields.',
            'Set soft, with a taste of clover, thyme and lime blossom.',
          ],
        },
        {
          noun: 'green tomato chutney',
          price: [5, 8],
          step: 50,
          sizes: ['200 g', '300 g'],
          brands: ['bramblecote'],
          about: [
            'Sweet, sour and warm with mustard seed.',
            'The best friend a piece of Cheddar can have.',
          ],
        },
        {
          noun: 'piquillo peppers',
          price: [5, 11],
          step: 60,
          sizes: ['220 g jar', '390 g jar'],
          brands: ['olivar-del-cierzo'],
          about: [
            'Roasted over beech wood and peeled by hand.',
            'Small, sweet and smoky: ready to stuff or to eat from the jar.',
          ],
        },
        {
          noun: 'green olives with lemon & thyme',
          price: [4, 9],
          step: 60,
          sizes: ['200 g', '400 g'],
          brands: ['olivar-del-cierzo'],
          about: [
            'Cracked olives in a light brine with lemon and thyme.',
            'Crisp, grassy and hard to stop eating.',
          ],
        },
      ],
      notes: [
        'Keep in the refrigerator once opened.',
        'No preservatives, colourings or flavourings.',
        'Packed in glass, with a lid that can be used again.',
        'A small present that is always welcome.',
        'Made in season, and gone when it is gone.',
      ],
    },
  ],
};
