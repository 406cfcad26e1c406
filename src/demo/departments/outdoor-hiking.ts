import { brights, gear, wools } from '../colours.js';
import type { Department } from '../department.js';

export const outdoorHiking: Department = {
  id: 'outdoor-hiking',
  name: 'Hiking & travel',
  children: [
    {
      id: 'outdoor-packs',
      name: 'Rucksacks & bags',
      brands: ['halvorsund', 'drumlin-trail', 'cedar-sextant'],
      kinds: [
        {
          noun: 'hiking rucksack, {size}',
          price: [119, 229],
          step: 18,
          sizes: ['35 l', '50 l', '65 l'],
          colours: gear,
          brands: ['halvorsund', 'drumlin-trail'],
          about: [
            'A back length that adjusts in seconds and a hip belt that carries the load.',
            'One big compartment, two side pockets and nothing to get caught on rocks.',
          ],
        },
        {
          noun: 'daypack, {size}',
          price: [59, 119],
          step: 15,
          sizes: ['15 l', '20 l', '26 l'],
          colours: gear,
          about: [
            'Room for a jacket, lunch and a laptop.',
            'Waxed canvas that keeps out a shower.',
          ],
        },
        {
          noun: 'weekend bag',
          price: [99, 249],
          step: 15,
          sizes: ['30 l', '42 l'],
          colours: gear,
          brands: ['cedar-sextant', 'halvorsund'],
          about: [
            'A soft holdall that fits under the seat of a train.',
            'Wide-mouthed, with a separate compartment for shoes.',
          ],
        },
        {
          noun: 'wash bag',
          price: [29, 64],
          colours: gear,
          brands: ['cedar-sextant', 'drumlin-trail'],
          about: [
            'Hangs from a hook and opens out flat.',
            'Wipe-clean lining and a pocket for the toothbrush.',
          ],
        },
        {
          noun: 'dry bag',
          price: [14, 29],
          step: 30,
          sizes: ['5 l', '13 l', '22 l'],
          colours: brights,
          brands: ['halvorsund', 'drumlin-trail'],
          about: [
            'Roll it down three times and it floats.',
            'Keeps sleeping bags dry and cameras alive.',
          ],
        },
      ],
      notes: [
        'Made from recycled fabric.',
        'Buckles can be replaced without sewing.',
        'Weighs less than it looks.',
        'Good on trains, ferries and footpaths.',
        'Treated without fluorocarbons.',
      ],
    },
    {
      id: 'outdoor-clothing',
      name: 'Clothing',
      brands: ['halvorsund', 'drumlin-trail', 'wexmoor-daughters'],
      kinds: [
        {
          noun: 'rain jacket',
          price: [149, 349],
          sizes: ['S', 'M', 'L', 'XL'],
          colours: gear,
          brands: ['halvorsund', 'drumlin-trail'],
          about: [
            'Three layers, taped seams and a hood that turns with your head.',
            'A waterproof jacket that breathes on the way up and keeps you dry on the way down.',
          ],
        },
        {
          noun: 'merino base layer',
          price: [59, 109],
          sizes: ['S', 'M', 'L', 'XL'],
          colours: wools,
          brands: ['halvorsund', 'drumlin-trail'],
          about: [
            'Fine merino that stays fresh for days.',
            'Flat seams and a long back, for under a rucksack.',
          ],
        },
        {
          noun: "fisherman's jumper",
          price: [129, 219],
          sizes: ['S', 'M', 'L', 'XL'],
          colours: wools,
          brands: ['wexmoor-daughters'],
          about: [
            'A dense rib knit that keeps out the wind.',
            'Knitted in the round from garment-dyed wool.',
          ],
        },
        {
          noun: 'wool beanie',
          price: [24, 49],
          colours: wools,
          about: ['A plain ribbed hat with a deep turn-up.', 'Warm without scratching.'],
        },
        {
          noun: 'hiking socks',
          price: [16, 29],
          sizes: ['36–38', '39–41', '42–44', '45–47'],
          colours: wools,
          about: [
            'Padded at heel and toe, with a band that does not cut in.',
            'A merino blend that dries overnight.',
          ],
        },
        {
          noun: 'walking trousers',
          price: [89, 159],
          sizes: ['S', 'M', 'L', 'XL'],
          colours: ['olive', 'slate grey', 'black', 'sand'],
          brands: ['halvorsund', 'drumlin-trail'],
          about: [
            'Stretch where you bend and double cloth where you kneel.',
            'Two deep pockets, one with a zip, and hems you can narrow.',
          ],
        },
      ],
      notes: [
        'Holds its shape for years.',
        'Wash rarely, air often.',
        'From responsible wool and recycled fibres.',
        'A size guide is on the label.',
        'If the size is wrong, the exchange is free.',
      ],
    },
    {
      id: 'outdoor-camping',
      name: 'Camping',
      brands: ['drumlin-trail', 'halvorsund', 'cedar-sextant'],
      kinds: [
        {
          noun: '{size} tent',
          price: [249, 449],
          step: 25,
          sizes: ['one-person', 'two-person', 'three-person'],
          colours: ['olive', 'rust', 'slate grey'],
          brands: ['drumlin-trail', 'halvorsund'],
          about: [
            'A storm-proof tunnel with a porch big enough to cook in.',
            'Pitches in five minutes, inner and outer together.',
          ],
        },
        {
          noun: 'sleeping bag, {size}',
          price: [129, 249],
          step: 22,
          sizes: ['+8 °C', '0 °C', '−8 °C'],
          colours: gear,
          brands: ['drumlin-trail', 'halvorsund'],
          about: [
            'A roomy cut, a two-way zip and a collar that seals in warmth.',
            'Packs down to the size of a loaf of bread.',
          ],
        },
        {
          noun: 'sleeping mat',
          price: [59, 149],
          step: 20,
          sizes: ['regular', 'long & wide'],
          colours: gear,
          brands: ['drumlin-trail', 'halvorsund'],
          about: ['Self-inflating, quiet and 5 cm thick.', 'Insulates well on cold ground.'],
        },
        {
          noun: 'enamel mug',
          price: [9, 19],
          step: 20,
          sizes: ['0.3 l', '0.5 l'],
          colours: ['cream', 'navy', 'forest green', 'red'],
          brands: ['cedar-sextant', 'drumlin-trail'],
          about: [
            'Goes on the fire and survives the fall.',
            'A light steel mug with a rolled rim.',
          ],
        },
        {
          noun: 'camp stove',
          price: [59, 139],
          brands: ['drumlin-trail', 'halvorsund'],
          about: [
            'Boils half a litre in under three minutes.',
            'Stands low and stable, with a flame that can simmer.',
          ],
        },
        {
          noun: 'vacuum flask',
          price: [29, 54],
          step: 25,
          sizes: ['0.5 l', '0.75 l', '1 l'],
          colours: gear,
          about: [
            'Keeps tea hot for twelve hours and water cold for twenty-four.',
            'Opens with one hand and never leaks.',
          ],
        },
        {
          noun: 'head torch',
          price: [29, 79],
          colours: ['black', 'orange'],
          brands: ['drumlin-trail', 'halvorsund'],
          about: [
            'A wide beam for the camp, a narrow one for the path and red light for the tent.',
            'Charges by USB-C and runs for a week of evenings.',
          ],
        },
      ],
      notes: [
        'Packs small.',
        'Hard to break and easy to mend.',
        'Tried out on long, wet weekends.',
        'Good in any season.',
        'Simple enough to use with cold hands.',
      ],
    },
  ],
};
