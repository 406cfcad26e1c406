import { coats, linens } from '../colours.js';
import type { Department } from '../department.js';

export const gardenLiving: Department = {
  id: 'garden-living',
  name: 'Outdoor living',
  children: [
    {
      id: 'garden-furniture',
      name: 'Garden furniture',
      brands: ['klarheim', 'gronnevang', 'lowenzahn-sohne'],
      kinds: [
        {
          noun: 'folding garden chair',
          price: [59, 139],
          colours: coats,
          about: [
            'Folds flat and hangs on a hook through the winter.',
            'Steel frame, wooden slats and a seat that drains.',
          ],
        },
        {
          noun: 'garden bench',
          price: [229, 549],
          step: 22,
          sizes: ['two-seat', 'three-seat'],
          about: [
            'A solid bench with a sloping back, made to stay outdoors.',
            'Untreated wood that turns silver over the years.',
          ],
        },
        {
          noun: 'bistro table',
          price: [89, 199],
          step: 25,
          sizes: ['Ø 60 cm', 'Ø 75 cm'],
          colours: coats,
          about: [
            'A round folding table for two coffees and a newspaper.',
            'Galvanised and powder-coated, so that rain does it no harm.',
          ],
        },
        {
          noun: 'sun lounger',
          price: [189, 429],
          colours: linens,
          brands: ['klarheim', 'gronnevang'],
          about: [
            'Four positions, two wheels and a cover you can wash.',
            'A long, low lounger that one person can move.',
          ],
        },
        {
          noun: 'parasol',
          price: [99, 249],
          step: 25,
          sizes: ['Ø 2 m', 'Ø 2.7 m', 'Ø 3.3 m'],
          colours: linens,
          brands: ['klarheim', 'lowenzahn-sohne'],
          about: [
            'Wooden pole, cotton-feel canopy and a simple rope pulley.',
            'Tilts with the sun and closes with one hand.',
          ],
        },
      ],
      notes: [
        'Weatherproof from spring to autumn.',
        'Matching covers are available.',
        'Delivered ready assembled.',
        'Store it under a roof in winter.',
        'Single parts can be replaced.',
      ],
    },
    {
      id: 'garden-grill',
      name: 'Grilling & fire',
      brands: ['oat-anvil', 'brasero-alto'],
      kinds: [
        {
          noun: 'charcoal grill',
          price: [149, 449],
          step: 30,
          sizes: ['Ø 47 cm', 'Ø 57 cm'],
          about: [
            'A kettle grill with a tight lid, for steaks as well as for smoking.',
            'Two vents control the heat to within a few degrees.',
          ],
        },
        {
          noun: 'fire bowl',
          price: [119, 329],
          step: 30,
          sizes: ['Ø 60 cm', 'Ø 80 cm'],
          about: [
            'Raw steel that rusts to a warm brown and no further.',
            'A wide, shallow bowl to sit around.',
          ],
        },
        {
          noun: 'grill tongs',
          price: [19, 44],
          step: 15,
          sizes: ['30 cm', '40 cm'],
          about: [
            'Long, springy tongs with a gentle grip.',
            'Keep your hands well away from the coals.',
          ],
        },
        {
          noun: 'cast-iron griddle',
          price: [39, 89],
          step: 30,
          sizes: ['one burner', 'two burners'],
          about: [
            'Ridged on one side and smooth on the other.',
            'For pancakes in the morning and peppers at night.',
          ],
        },
        {
          noun: 'leather grill gloves',
          price: [29, 59],
          sizes: ['M', 'L', 'XL'],
          colours: ['cognac', 'black'],
          about: [
            'Long cuffs and a cotton lining for hot handles and logs.',
            'Thick hide that still lets you feel what you hold.',
          ],
        },
        {
          noun: 'lump charcoal',
          price: [8, 14],
          step: 90,
          sizes: ['3 kg', '8 kg'],
          about: [
            'Slow-burning beech and oak from managed woods.',
            'Large pieces, hardly any dust, and ready in twenty minutes.',
          ],
        },
      ],
      notes: [
        'For use outdoors only.',
        'Let it cool completely before you put it away.',
        'A starter recipe for flatbread is included.',
        'Made for fires, whatever the season.',
        'Bring your own appetite.',
      ],
    },
  ],
};
