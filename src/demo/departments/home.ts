import { coats, metals } from '../colours.js';
import type { Department } from '../department.js';
import { homeFurniture } from './home-furniture.js';
import { homeTextiles } from './home-textiles.js';

export const home: Department = {
  id: 'home',
  name: 'Home & living',
  children: [
    homeFurniture,
    {
      id: 'home-lighting',
      name: 'Lighting',
      brands: ['nordlys', 'studio-kvarnsten'],
      kinds: [
        {
          noun: 'table lamp',
          price: [69, 219],
          colours: [...coats, 'brass'],
          about: [
            'A small lamp with a warm pool of light and a dimmer in the cord.',
            'A spun shade on a heavy foot that stays where you put it.',
          ],
        },
        {
          noun: 'pendant lamp',
          price: [89, 329],
          step: 30,
          sizes: ['Ø 22 cm', 'Ø 35 cm', 'Ø 50 cm'],
          colours: coats,
          about: [
            'Throws its light down on the table and keeps it out of your eyes.',
            'A wide shade with a white inside that softens the light.',
          ],
        },
        {
          noun: 'floor lamp',
          price: [149, 429],
          colours: metals,
          about: [
            'A reading lamp with an arm that swings right over the chair.',
            'Turns at the head and at the knee, and holds its position.',
          ],
        },
        {
          noun: 'wall light',
          price: [59, 179],
          colours: metals,
          about: [
            'A hinged light for the bedside or the hallway.',
            'Washes the wall with an even glow.',
          ],
        },
        {
          noun: 'clip-on lamp',
          price: [39, 89],
          colours: coats,
          about: [
            'Clips to shelves, headboards and desks up to 4 cm thick.',
            'A little spotlight that goes where it is needed.',
          ],
        },
        {
          noun: 'rechargeable lantern',
          price: [59, 139],
          colours: coats,
          brands: ['nordlys'],
          about: [
            'Twelve hours of candle-like light, on the table or in the garden.',
            'Three brightness steps, a carrying loop and a USB-C port.',
          ],
        },
      ],
      notes: [
        'The light is a warm white of 2700 K.',
        'The light source can be replaced.',
        'Made for long northern evenings.',
        'Uses very little power.',
        'Dims smoothly down to one per cent.',
      ],
    },
    homeTextiles,
  ],
};
