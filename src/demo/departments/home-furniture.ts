import { coats, leathers, linens, woods } from '../colours.js';
import type { Department } from '../department.js';

export const homeFurniture: Department = {
  id: 'home-furniture',
  name: 'Furniture',
  children: [
    {
      id: 'home-seating',
      name: 'Chairs & sofas',
      brands: ['klarheim', 'studio-kvarnsten', 'wexmoor-daughters'],
      kinds: [
        {
          noun: 'dining chair',
          price: [119, 289],
          colours: woods,
          brands: ['klarheim', 'studio-kvarnsten'],
          about: [
            'A light chair with a curved back that supports without pushing.',
            'Steam-bent wood and a woven seat, comfortable through a long dinner.',
          ],
        },
        {
          noun: 'armchair',
          price: [390, 890],
          colours: linens,
          about: [
            'A deep seat, a high back and arms at the right height for a book.',
            'Removable, washable covers over a beech frame.',
          ],
        },
        {
          noun: '{size} sofa',
          price: [990, 1790],
          step: 25,
          sizes: ['two-seat', 'three-seat'],
          colours: linens,
          about: [
            'A sofa with firm cushions that keep their shape.',
            'Low arms, slim legs and room to lie down.',
          ],
        },
        {
          noun: 'bar stool',
          price: [129, 259],
          step: 8,
          sizes: ['65 cm', '75 cm'],
          colours: woods,
          brands: ['klarheim', 'studio-kvarnsten'],
          about: [
            'A stool with a brass foot rail and a gently hollowed seat.',
            'Slim enough to disappear under the counter.',
          ],
        },
        {
          noun: 'leather footstool',
          price: [169, 329],
          colours: leathers,
          brands: ['wexmoor-daughters'],
          about: [
            'Vegetable-tanned leather that darkens handsomely with the years.',
            'A firm stool for feet, trays and the odd guest.',
          ],
        },
      ],
      notes: [
        'Delivered to the room of your choice.',
        'Tested to 110 kg per seat.',
        'Samples of every finish are free on request.',
        'Felt pads for the floor are included.',
        'The frame carries a ten-year guarantee.',
      ],
    },
    {
      id: 'home-tables',
      name: 'Tables & desks',
      brands: ['klarheim', 'studio-kvarnsten'],
      kinds: [
        {
          noun: 'dining table',
          price: [590, 1290],
          step: 18,
          sizes: ['160 × 85 cm', '180 × 90 cm', '220 × 95 cm'],
          colours: woods,
          about: [
            'A solid table with legs set well out, so nobody straddles one.',
            'Rounded edges and an oiled top that shrugs off red wine.',
          ],
        },
        {
          noun: 'coffee table',
          price: [189, 449],
          step: 15,
          sizes: ['Ø 60 cm', 'Ø 80 cm'],
          colours: woods,
          about: [
            'A round table with a shelf underneath for magazines.',
            'Three legs, so that it stands steady on any floor.',
          ],
        },
        {
          noun: 'writing desk',
          price: [349, 749],
          step: 15,
          sizes: ['120 cm', '140 cm'],
          colours: woods,
          about: [
            'A slim desk with one shallow drawer and a hidden cable tray.',
            'Room for a laptop, a lamp and a cup of tea.',
          ],
        },
        {
          noun: 'bedside table',
          price: [99, 219],
          colours: woods,
          about: [
            'A small table with a drawer for glasses and a shelf for books.',
            'Just high enough to reach from the pillow.',
          ],
        },
      ],
      notes: [
        'Solid wood throughout; no veneer.',
        'Each top shows its own grain.',
        'Goes together with four bolts.',
        'Finished with plant-based hard-wax oil.',
        'A tin of care oil is included.',
      ],
    },
    {
      id: 'home-shelves',
      name: 'Shelving & storage',
      brands: ['klarheim', 'studio-kvarnsten', 'pinqvist'],
      kinds: [
        {
          noun: 'bookcase',
          price: [219, 549],
          step: 25,
          sizes: ['3 shelves', '5 shelves', '6 shelves'],
          colours: woods,
          about: [
            'A bookcase that carries real books without bowing.',
            'Open at the back, so it also divides a room.',
          ],
        },
        {
          noun: 'wall shelf',
          price: [39, 109],
          step: 25,
          sizes: ['60 cm', '90 cm', '120 cm'],
          colours: woods,
          about: ['A floating shelf on a concealed steel bracket.', 'Carries 15 kg on two screws.'],
        },
        {
          noun: 'sideboard',
          price: [590, 1190],
          step: 20,
          sizes: ['120 cm', '160 cm'],
          colours: woods,
          about: [
            'Sliding doors in front, cable openings behind.',
            'Long, low and roomy enough for the whole dinner service.',
          ],
        },
        {
          noun: 'coat rack',
          price: [49, 139],
          step: 25,
          sizes: ['5 hooks', '8 hooks'],
          colours: woods,
          about: [
            'Sturdy pegs for winter coats, rucksacks and umbrellas.',
            'A row of turned pegs on a plain rail.',
          ],
        },
        {
          noun: 'storage crate',
          price: [24, 59],
          step: 30,
          sizes: ['S', 'M', 'L'],
          colours: coats,
          brands: ['pinqvist', 'klarheim'],
          about: [
            'A stacking crate of powder-coated steel for toys, records and firewood.',
            'Stacks without sliding and carries well by its two handles.',
          ],
        },
      ],
      notes: [
        'Comes with everything you need to set it up.',
        'Can be extended later with the same series.',
        'Designed to move house with you.',
        'The finish wipes clean with a damp cloth.',
        'Made from timber and steel of known origin.',
      ],
    },
  ],
};
