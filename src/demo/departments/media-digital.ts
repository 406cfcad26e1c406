import type { Department } from '../department.js';

export const mediaDigital: Department = {
  id: 'media-digital',
  name: 'Downloads',
  children: [
    {
      id: 'media-ebooks',
      name: 'E-books & audio',
      type: 'DIGITAL',
      brands: ['hollow-elm', 'foglia-margine'],
      kinds: [
        {
          names: [
            'Slow Bread: Sourdough without Hurry',
            'The Winter Vegetable Kitchen',
            'One Pot, Many Sundays',
            'A Year of Hedges',
            "The Night Walker's Almanac",
            'Ten Rivers on Foot',
            'Birds at the Window',
            'The "Good Enough" Garden',
            'Islands off Season',
            "The Beginner's Bee Book",
            'Letters from a Lighthouse',
            "The Clockmaker's Apprentice",
            'Murder at the Flower Show',
            'The House on Ferry Lane',
            'Snow on the Timetable',
            'A Guest for Breakfast',
          ],
          price: [6, 13],
          step: 60,
          sizes: ['e-book', 'audiobook'],
          about: [
            'The complete, unabridged text.',
            'A book to finish in one long weekend.',
            'Warm, dry and quietly funny.',
          ],
        },
        {
          names: [
            'Sounds of the Beech Wood',
            'Rain on a Tin Roof',
            'Harbour Bells',
            'Night Train Ambience',
            'Morning Piano',
            'Lute Music for Reading',
          ],
          price: [4, 9],
          step: 40,
          sizes: ['MP3', 'FLAC'],
          about: [
            'An hour of unhurried sound for work, reading or sleep.',
            'Recorded in one take with two microphones.',
          ],
        },
      ],
      notes: [
        'Free of copy protection.',
        'Available in your account at once after payment.',
        'May be used on all your devices.',
        'A free sample is on the product page.',
        'No subscription needed.',
      ],
    },
    {
      id: 'media-patterns',
      name: 'Knitting & sewing patterns',
      type: 'DIGITAL',
      brands: ['ullarholt', 'stichfalter'],
      kinds: [
        {
          noun: 'yoke jumper knitting pattern',
          price: [6, 10],
          brands: ['ullarholt'],
          about: [
            'A seamless jumper with a patterned round yoke.',
            'Knitted from the bottom up in two or three colours.',
          ],
        },
        {
          noun: 'mittens knitting pattern',
          price: [4, 7],
          brands: ['ullarholt'],
          about: [
            'Stranded mittens with a pointed tip and a striped cuff.',
            'A small project with a lot of pattern.',
          ],
        },
        {
          noun: 'lace shawl knitting pattern',
          price: [5, 9],
          brands: ['ullarholt'],
          about: [
            'A half-moon shawl in an easy lace, charted and written out.',
            'Starts with five stitches and ends in waves.',
          ],
        },
        {
          noun: 'socks knitting pattern',
          price: [4, 7],
          brands: ['ullarholt'],
          about: [
            'Toe-up socks with a heel that fits.',
            'Four sizes, one chart and hardly any sewing in.',
          ],
        },
        {
          noun: 'shirt dress sewing pattern',
          price: [9, 15],
          step: 30,
          sizes: ['A4 print', 'A0 print'],
          brands: ['stichfalter'],
          about: [
            'A loose dress with a stand collar and deep pockets.',
            'Ten sizes, two lengths and three kinds of sleeve.',
          ],
        },
        {
          noun: 'work trousers sewing pattern',
          price: [8, 14],
          step: 30,
          sizes: ['A4 print', 'A0 print'],
          brands: ['stichfalter'],
          about: [
            'High-waisted trousers with a buttoned fly, explained in photographs.',
            'A straight cut with patch pockets and room to move.',
          ],
        },
        {
          noun: 'tote bag sewing pattern',
          price: [3, 6],
          brands: ['stichfalter'],
          about: [
            'A lined bag in three sizes for a rainy afternoon.',
            'A first project: straight seams only.',
          ],
        },
        {
          noun: "child's raincoat sewing pattern",
          price: [8, 13],
          step: 30,
          sizes: ['A4 print', 'A0 print'],
          brands: ['stichfalter'],
          about: [
            'A hooded coat in sizes 92 to 128.',
            'Taped seams and snap fasteners, shown step by step.',
          ],
        },
      ],
      notes: [
        'A PDF to print at home or at a copy shop.',
        'Available in English, German and French.',
        'With a list of suitable materials.',
        'For personal use and small workshops.',
        'Delivered by e-mail within minutes.',
      ],
    },
    {
      id: 'media-software',
      name: 'Software & design',
      type: 'DIGITAL',
      brands: ['pixelmoor'],
      kinds: [
        {
          noun: 'photo preset pack',
          price: [14, 29],
          step: 60,
          sizes: ['20 presets', '40 presets'],
          about: [
            'Film-like colours for landscapes and portraits.',
            'Subtle tones that survive a second look.',
          ],
        },
        {
          noun: 'typeface',
          price: [19, 49],
          step: 120,
          sizes: ['single weight', 'family of 8'],
          about: ['A calm serif for long texts.', 'An open, friendly sans for screens and signs.'],
        },
        {
          noun: 'icon set',
          price: [12, 24],
          step: 70,
          sizes: ['150 icons', '480 icons'],
          about: [
            'Line icons on a clear grid, as SVG files.',
            'Drawn to stay legible at 16 pixels.',
          ],
        },
        {
          noun: 'invoice app',
          price: [39, 59],
          step: 180,
          sizes: ['1 user', '5 users'],
          about: [
            'Writes offers and invoices and reminds your customers politely.',
            'Invoicing for small firms, without a cloud.',
          ],
        },
        {
          noun: 'recipe organiser app',
          price: [12, 24],
          step: 80,
          sizes: ['1 device', 'family licence'],
          about: [
            'Collects recipes, scales them and writes the shopping list.',
            'Your recipes in one place, offline and searchable.',
          ],
        },
        {
          noun: 'paper texture pack',
          price: [9, 19],
          step: 60,
          sizes: ['25 textures', '60 textures'],
          about: [
            'Scans of handmade papers in print resolution.',
            'Quiet surfaces that make flat designs breathe.',
          ],
        },
      ],
      notes: [
        'A download link is sent by e-mail.',
        'Pay once, use it for good.',
        'Works on Windows, macOS and Linux.',
        'A short manual is included.',
        'Try it free for 14 days.',
      ],
    },
  ],
};
