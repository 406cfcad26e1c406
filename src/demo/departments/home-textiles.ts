import { linens, wools } from '../colours.js';
import type { Department } from '../department.js';

export const homeTextiles: Department = {
  id: 'home-textiles',
  name: 'Textiles & bath',
  children: [
    {
      id: 'home-bedding',
      name: 'Bedding & throws',
      brands: ['telaio-bianco', 'casa-nove-azulejos', 'wexmoor-daughters'],
      kinds: [
        {
          noun: 'linen duvet cover',
          price: [119, 199],
          step: 22,
          sizes: ['140 × 200 cm', '200 × 200 cm', '240 × 220 cm'],
          colours: linens,
          brands: ['telaio-bianco', 'casa-nove-azulejos'],
          about: [
            'Stone-washed linen that is cool in summer and warm in winter.',
            'Soft from the first night, softer after every wash.',
          ],
        },
        {
          noun: 'cotton fitted sheet',
          price: [39, 69],
          step: 20,
          sizes: ['90 × 200 cm', '140 × 200 cm', '180 × 200 cm'],
          colours: linens,
          brands: ['telaio-bianco', 'casa-nove-azulejos'],
          about: [
            'Crisp percale with elastic all the way round.',
            'Fits mattresses up to 30 cm deep and stays in place.',
          ],
        },
        {
          noun: 'pillowcase',
          price: [19, 42],
          step: 20,
          sizes: ['50 × 75 cm', '80 × 80 cm'],
          colours: linens,
          brands: ['telaio-bianco', 'casa-nove-azulejos'],
          about: [
            'An envelope closing keeps the pillow in without buttons.',
            'Smooth percale with a narrow border.',
          ],
        },
        {
          noun: 'wool throw',
          price: [79, 169],
          step: 20,
          sizes: ['130 × 170 cm', '140 × 200 cm'],
          colours: wools,
          brands: ['wexmoor-daughters', 'telaio-bianco'],
          about: [
            'Lambswool in a plain weave with a short fringe.',
            'Warm, light and just long enough to cover your feet.',
          ],
        },
        {
          noun: 'cushion cover',
          price: [24, 54],
          step: 20,
          sizes: ['45 × 45 cm', '50 × 70 cm'],
          colours: linens,
          about: [
            'A heavy weave with a concealed zip.',
            'Piped edges and a cloth that does not mind being sat on.',
          ],
        },
      ],
      notes: [
        'Tested for harmful substances.',
        'Wash cool, with similar colours.',
        'The colours can be mixed freely.',
        'Comes in a bag cut from the same cloth.',
        'Pre-shrunk, so it keeps its size.',
      ],
    },
    {
      id: 'home-bath',
      name: 'Bath & soap',
      brands: ['telaio-bianco', 'casa-nove-azulejos', 'savonnerie-cantelune'],
      kinds: [
        {
          noun: 'bath towel',
          price: [24, 49],
          step: 35,
          sizes: ['50 × 100 cm', '70 × 140 cm', '100 × 150 cm'],
          colours: linens,
          brands: ['telaio-bianco', 'casa-nove-azulejos'],
          about: [
            'Thick terry that dries well and hangs by a proper loop.',
            'Long-staple cotton with a flat woven border.',
          ],
        },
        {
          noun: 'waffle bathrobe',
          price: [79, 139],
          sizes: ['S/M', 'L/XL'],
          colours: linens,
          brands: ['telaio-bianco', 'casa-nove-azulejos'],
          about: [
            'A light robe for warm mornings, with two deep pockets.',
            'Waffle weave that packs small and dries fast.',
          ],
        },
        {
          noun: 'bath mat',
          price: [29, 59],
          step: 25,
          sizes: ['50 × 70 cm', '60 × 100 cm'],
          colours: linens,
          brands: ['telaio-bianco', 'casa-nove-azulejos'],
          about: [
            'A dense mat that stays flat on wet tiles.',
            'Ribbed cotton, soft to stand on and quick to dry.',
          ],
        },
        {
          noun: 'olive oil soap',
          price: [5, 9],
          step: 90,
          sizes: ['125 g', '3 × 125 g'],
          brands: ['savonnerie-cantelune'],
          about: [
            'A mild bar for hands and body, cured for eight weeks.',
            'Creamy lather and a quiet scent.',
          ],
        },
        {
          noun: 'liquid hand soap',
          price: [9, 17],
          step: 40,
          sizes: ['300 ml', '500 ml', '1 l refill'],
          brands: ['savonnerie-cantelune'],
          about: ['Gentle enough for a busy household.', 'A fresh scent that does not linger.'],
        },
        {
          noun: 'bath salts',
          price: [12, 22],
          step: 60,
          sizes: ['250 g', '600 g'],
          brands: ['savonnerie-cantelune'],
          about: [
            'Coarse sea salt with dried flowers and essential oils.',
            'A handful turns a bath into an evening off.',
          ],
        },
      ],
      notes: [
        'Kind to sensitive skin.',
        'Packed in paper.',
        'Goes well with the rest of the series.',
        'Tested by an independent laboratory.',
        'A pleasant guest-room detail.',
      ],
    },
  ],
};
