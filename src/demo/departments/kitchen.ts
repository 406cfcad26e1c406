import { glazes, linens, metals, woods } from '../colours.js';
import type { Department } from '../department.js';
import { kitchenCooking } from './kitchen-cooking.js';

export const kitchen: Department = {
  id: 'kitchen',
  name: 'Kitchen & dining',
  children: [
    kitchenCooking,
    {
      id: 'kitchen-coffee',
      name: 'Coffee & tea making',
      brands: ['cafe-merlenoir', 'amagumo', 'poterie-argilune', 'fjellgryte'],
      kinds: [
        {
          noun: 'café crème set, {size}',
          price: [29, 58],
          step: 80,
          sizes: ['2 pcs', '4 pcs', '6 pcs'],
          colours: glazes,
          brands: ['poterie-argilune', 'cafe-merlenoir'],
          about: [
            'Low, wide cups with saucers, the right size for a café crème.',
            'Thick-walled cups that keep the crema warm to the last sip.',
          ],
        },
        {
          noun: 'pour-over kettle',
          price: [49, 119],
          step: 15,
          sizes: ['0.6 l', '0.9 l'],
          colours: metals,
          brands: ['cafe-merlenoir', 'fjellgryte'],
          about: [
            'A narrow gooseneck for a slow and steady pour.',
            'Balanced in the hand and exact in the pour, with a thermometer in the lid.',
          ],
        },
        {
          noun: 'coffee dripper',
          price: [19, 44],
          step: 25,
          sizes: ['1–2 cups', '2–4 cups'],
          colours: glazes,
          about: [
            'Spiral ribs let the water run evenly through the coffee.',
            'A dripper that fits standard cone filters and most mugs and jugs.',
          ],
        },
        {
          noun: 'hand coffee grinder',
          price: [59, 159],
          colours: ['matte black', 'brushed steel', 'walnut'],
          brands: ['cafe-merlenoir', 'fjellgryte'],
          about: [
            'Steel burrs and 36 clear steps, from Turkish coffee to French press.',
            'Grinds enough for two cups in under a minute and fits in a weekend bag.',
          ],
        },
        {
          noun: 'teapot',
          price: [39, 112],
          step: 30,
          sizes: ['0.4 l', '0.7 l', '1.1 l'],
          colours: glazes,
          brands: ['amagumo', 'poterie-argilune'],
          about: [
            'A round-bellied pot whose spout does not drip.',
            'Comes with a fine steel strainer that sits deep enough for a single cup.',
          ],
        },
        {
          noun: 'matcha bowl',
          price: [36, 98],
          colours: glazes,
          brands: ['amagumo'],
          about: [
            'A wide bowl that leaves room for the whisk.',
            'Sits well in two hands and holds its warmth.',
          ],
        },
      ],
      notes: [
        'Food-safe and free of lead and cadmium.',
        'A thoughtful present for anyone who takes breakfast seriously.',
        'Matches the rest of the series.',
        'Easy to clean.',
        'Packed safely in moulded paper.',
      ],
    },
    {
      id: 'kitchen-table',
      name: 'Tableware',
      brands: ['poterie-argilune', 'amagumo', 'casa-nove-azulejos'],
      kinds: [
        {
          noun: 'dinner plate',
          price: [16, 42],
          step: 20,
          sizes: ['24 cm', '27 cm'],
          colours: glazes,
          about: [
            'A flat plate with a low rim that frames a simple meal.',
            'Everyday stoneware with a soft, matte glaze.',
          ],
        },
        {
          noun: 'soup bowl',
          price: [14, 36],
          step: 18,
          sizes: ['0.4 l', '0.6 l'],
          colours: glazes,
          about: [
            'A deep bowl for ramen, porridge and minestrone.',
            'Its narrow foot keeps the heat off the table.',
          ],
        },
        {
          noun: 'serving platter',
          price: [38, 92],
          step: 25,
          sizes: ['32 cm', '40 cm'],
          colours: glazes,
          about: [
            'An oval platter for a whole fish or a heap of grilled vegetables.',
            'Big enough for six and shallow enough to stack.',
          ],
        },
        {
          noun: 'tumbler set, {size}',
          price: [24, 48],
          step: 45,
          sizes: ['4 pcs', '6 pcs'],
          brands: ['casa-nove-azulejos'],
          about: [
            'Mouth-blown tumblers of recycled glass, each a little different.',
            'Sturdy glasses for water, juice and the house wine.',
          ],
        },
        {
          noun: 'tablecloth',
          price: [49, 99],
          step: 30,
          sizes: ['140 × 200 cm', '140 × 260 cm', '170 × 320 cm'],
          colours: linens,
          brands: ['casa-nove-azulejos'],
          about: [
            'Washed linen that looks its best straight off the line.',
            'A generous cloth with mitred corners and a weighty fall.',
          ],
        },
        {
          noun: 'serving board',
          price: [28, 68],
          step: 25,
          sizes: ['35 cm', '45 cm'],
          colours: woods,
          brands: ['casa-nove-azulejos'],
          about: [
            'A long board with a leather loop for cheese, bread and olives.',
            'Cut from one plank, with the bark side left gently uneven.',
          ],
        },
      ],
      notes: [
        'Easily combined with the rest of the series.',
        'Pieces can be bought one by one and added to over the years.',
        'Made for everyday meals as much as for guests.',
        'Also to be found in a good many small restaurants.',
        'We keep each pattern in stock for at least five years.',
      ],
    },
  ],
};
