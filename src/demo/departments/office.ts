import { coats, devices, leathers, woods } from '../colours.js';
import type { Department } from '../department.js';
import { officeTech } from './office-tech.js';

export const office: Department = {
  id: 'office',
  name: 'Office & electronics',
  children: [
    {
      id: 'office-desk',
      name: 'Workplace',
      brands: ['pinqvist', 'voltquist', 'klarheim'],
      kinds: [
        {
          noun: '{size} monitor arm',
          price: [69, 159],
          step: 20,
          sizes: ['24"', '27"', '32"'],
          colours: devices,
          brands: ['pinqvist', 'voltquist'],
          about: [
            'A gas spring that moves with one finger and stays where you leave it.',
            'Lifts the screen to eye level and clears the desk below.',
          ],
        },
        {
          noun: 'laptop stand',
          price: [34, 89],
          step: 12,
          sizes: ['13"', '15"'],
          colours: devices,
          brands: ['pinqvist', 'voltquist'],
          about: [
            'Raises the screen by 15 cm and folds flat for the train.',
            'Cast aluminium on silicone feet.',
          ],
        },
        {
          noun: 'standing desk',
          price: [449, 849],
          step: 15,
          sizes: ['120 × 70 cm', '140 × 80 cm', '160 × 80 cm'],
          colours: woods,
          brands: ['pinqvist', 'klarheim'],
          about: [
            'Two quiet motors and four heights to remember.',
            'Rises from 62 to 128 cm in under twenty seconds.',
          ],
        },
        {
          noun: 'desk organiser',
          price: [24, 64],
          colours: woods,
          brands: ['pinqvist', 'klarheim'],
          about: [
            'Places for pens, cards, keys and the telephone.',
            'A tidy tray with three movable dividers.',
          ],
        },
        {
          noun: 'cable tray',
          price: [19, 44],
          step: 20,
          sizes: ['60 cm', '90 cm'],
          colours: coats,
          brands: ['pinqvist', 'voltquist'],
          about: [
            'Hangs under the table top and swallows the power strip.',
            'An open steel tray that keeps cables off the floor.',
          ],
        },
        {
          noun: 'task chair',
          price: [249, 590],
          colours: ['black', 'slate grey', 'sage', 'navy'],
          brands: ['pinqvist', 'klarheim'],
          about: [
            'A breathing back and a seat that tilts as you lean.',
            'Adjusts at four points and needs no manual.',
          ],
        },
      ],
      notes: [
        'No special tools needed.',
        'Thought out down to the last screw.',
        'Made for rented flats and large offices alike.',
        'Business customers get an invoice with net prices.',
        'Can be sent back within 60 days.',
      ],
    },
    {
      id: 'office-stationery',
      name: 'Paper & stationery',
      brands: ['golondrina-papel', 'inkwell-thistle'],
      kinds: [
        {
          noun: 'notebook, {size}',
          price: [9, 22],
          step: 30,
          sizes: ['A6', 'A5', 'B5', 'A4'],
          colours: ['navy', 'mustard', 'sage', 'burgundy', 'black'],
          about: [
            'Thread-bound, so that it lies flat on every page.',
            'Smooth, heavy paper that does not bleed.',
          ],
        },
        {
          noun: 'weekly planner 2026',
          price: [16, 32],
          step: 20,
          sizes: ['A5', 'A4'],
          colours: ['navy', 'rust', 'sage'],
          about: [
            'One week on two pages, with room for notes in the margin.',
            'Begins on a Monday and ends with an empty page.',
          ],
        },
        {
          noun: 'fountain pen',
          price: [29, 149],
          sizes: ['nib F', 'nib M', 'nib B'],
          colours: devices,
          brands: ['inkwell-thistle'],
          about: [
            'A steel nib with a little spring and a screw-on cap.',
            'Comes with a converter and one blue cartridge.',
          ],
        },
        {
          noun: 'bottled ink',
          price: [9, 19],
          step: 60,
          sizes: ['30 ml', '60 ml'],
          colours: ['black', 'sea blue', 'forest green', 'burgundy'],
          brands: ['inkwell-thistle'],
          about: [
            'A well-behaved ink with gentle shading.',
            'Flows freely and washes off fingers.',
          ],
        },
        {
          noun: 'greeting cards, {size}',
          price: [8, 14],
          step: 90,
          sizes: ['set of 5', 'set of 10'],
          brands: ['golondrina-papel', 'inkwell-thistle'],
          about: [
            'Folded cards printed with birds and berries, blank inside.',
            'Letterpress on cotton board, with envelopes.',
          ],
        },
        {
          noun: 'pencil case',
          price: [19, 49],
          colours: leathers,
          about: [
            'A slim roll with loops for twelve pencils.',
            'Soft leather and a zip that runs smoothly.',
          ],
        },
        {
          noun: 'wrapping paper, {size}',
          price: [5, 9],
          step: 80,
          sizes: ['3 sheets', '10 sheets'],
          about: [
            'Heavy sheets with a print that goes right to the edge.',
            'Folds sharply and can be used twice.',
          ],
        },
      ],
      notes: [
        'Chosen by people who still write letters.',
        'A pleasure to use and to give away.',
        'A small pleasure on a working day.',
        'Matches other pieces from the same line.',
        'Made in small runs.',
      ],
    },
    officeTech,
  ],
};
