import { coats, devices } from '../colours.js';
import type { Department } from '../department.js';

export const officeTech: Department = {
  id: 'office-tech',
  name: 'Electronics',
  children: [
    {
      id: 'office-audio',
      name: 'Audio',
      brands: ['octavine', 'klangdeich'],
      kinds: [
        {
          noun: 'wireless headphones',
          price: [99, 349],
          colours: devices,
          about: [
            'Over-ear headphones with 40 hours of playing time and soft, replaceable pads.',
            'Noise cancelling that does not press on the ears.',
          ],
        },
        {
          noun: 'in-ear headphones',
          price: [49, 179],
          colours: devices,
          about: [
            'Light earphones with four sizes of tips and a charging case.',
            'Clear voices on calls, even in the wind.',
          ],
        },
        {
          noun: 'portable speaker',
          price: [59, 199],
          step: 40,
          sizes: ['S', 'L'],
          colours: ['black', 'rust', 'sage', 'navy'],
          about: [
            'A splash-proof speaker with a leather strap and 18 hours of music.',
            'Two of them pair for stereo.',
          ],
        },
        {
          noun: 'bookshelf speakers, pair',
          price: [249, 790],
          colours: ['black', 'white', 'walnut'],
          about: [
            'Two-way speakers with a wide, natural sound.',
            'Sealed cabinets that can stand close to a wall.',
          ],
        },
        {
          noun: 'kitchen radio',
          price: [89, 219],
          colours: coats,
          about: [
            'FM, DAB+ and Bluetooth, with one large knob for the volume.',
            'Six station keys, and a clock that sets itself.',
          ],
        },
        {
          noun: 'turntable',
          price: [279, 690],
          colours: ['black', 'white', 'walnut'],
          about: [
            'Belt-driven, with a heavy platter and a built-in preamplifier.',
            'A tonearm that is set up in five minutes.',
          ],
        },
      ],
      notes: [
        'Can be opened and repaired.',
        'Sounds right at low volume, too.',
        'Set-up takes a few minutes.',
        'Needs no account and no app.',
        'Listen for thirty days, then decide.',
      ],
    },
    {
      id: 'office-power',
      name: 'Power & cables',
      brands: ['voltquist', 'pinqvist'],
      kinds: [
        {
          noun: '{size} USB-C charger',
          price: [19, 39],
          step: 35,
          sizes: ['30 W', '65 W', '100 W'],
          colours: ['black', 'white'],
          about: [
            'A compact charger that stays cool.',
            'Shares its power sensibly between two devices.',
          ],
        },
        {
          noun: 'USB-C cable',
          price: [9, 19],
          step: 25,
          sizes: ['0.5 m', '1 m', '2 m'],
          colours: ['black', 'white', 'orange'],
          about: [
            'A braided cable with reinforced ends.',
            'Charges at up to 100 W and carries video.',
          ],
        },
        {
          noun: 'power bank',
          price: [29, 59],
          step: 45,
          sizes: ['5,000 mAh', '10,000 mAh', '20,000 mAh'],
          colours: devices,
          about: [
            'Slim enough for a jacket pocket, with a clear display.',
            'Charges a phone and a laptop at the same time.',
          ],
        },
        {
          noun: 'power strip, {size}',
          price: [19, 44],
          step: 25,
          sizes: ['3 sockets', '5 sockets', '8 sockets'],
          colours: ['black', 'white'],
          about: [
            'A flat plug, a textile cable and a switch you can find in the dark.',
            'Sockets set at an angle, so that bulky plugs fit side by side.',
          ],
        },
        {
          noun: 'wireless charging pad',
          price: [24, 54],
          colours: ['black', 'sage', 'sand'],
          about: [
            'A quiet, cloth-covered pad for the bedside.',
            'Finds the phone by magnet and charges at 15 W.',
          ],
        },
        {
          noun: 'smart plug',
          price: [14, 29],
          step: 170,
          sizes: ['single', 'set of 3'],
          colours: ['white'],
          brands: ['voltquist'],
          about: [
            'Measures consumption and switches by timetable, without a cloud.',
            'A small plug that leaves the next socket free.',
          ],
        },
      ],
      notes: [
        'Protected against overheating and short circuits.',
        'Comes without a plastic bag.',
        'Tested to European safety standards.',
        'Small, sturdy and easily packed.',
        'One of the things you are glad to have two of.',
      ],
    },
  ],
};
