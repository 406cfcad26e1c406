import type { Department } from '../department.js';
import { mediaDigital } from './media-digital.js';

export const media: Department = {
  id: 'media',
  name: 'Books & downloads',
  children: [
    {
      id: 'media-books',
      name: 'Books',
      children: [
        {
          id: 'media-cookery',
          name: 'Cookery books',
          brands: ['foglia-margine', 'hollow-elm'],
          kinds: [
            {
              names: [
                'Slow Bread: Sourdough without Hurry',
                'One Pot, Many Sundays',
                'The Winter Vegetable Kitchen',
                'Café crème & Other Mornings',
                'Salt, Smoke, Vinegar',
                'The Ragù Book',
                'Preserving the Garden',
                '"What\'s for Supper?": 120 Weeknight Answers',
                'Beans, Lentils & Peas',
                'Tea: A Short Guide to a Long Afternoon',
                'Olive Country',
                'The Pocket Pastry Chef',
                'Soups for Every Weather',
                'Fire & Flatbread',
              ],
              price: [16, 36],
              step: -25,
              sizes: ['hardback', 'paperback'],
              about: [
                "A cook's notebook with clear recipes and no exotic shopping lists.",
                'Eighty recipes, arranged by season and photographed in daylight.',
                'For beginners who want reasons and for old hands who want ideas.',
              ],
            },
          ],
          notes: [
            'With a table of weights and measures.',
            'Lies open on the worktop.',
            'Every recipe has been tested in an ordinary kitchen.',
            'Most dishes need no more than eight ingredients.',
            'Second, revised edition.',
          ],
        },
        {
          id: 'media-nature',
          name: 'Nature & travel',
          brands: ['hollow-elm', 'foglia-margine'],
          kinds: [
            {
              names: [
                'A Year of Hedges',
                "The Night Walker's Almanac",
                'Ten Rivers on Foot',
                'Lichens & Where to Find Them',
                'The Small Meadow Handbook',
                'Across the Alps by Local Train',
                'Birds at the Window',
                'The "Good Enough" Garden',
                'Clouds: How to Read the Sky',
                'Islands off Season',
                "The Beginner's Bee Book",
                'Moss',
                'Cycling the Canal Roads',
                'Old Orchards',
              ],
              price: [14, 32],
              step: -25,
              sizes: ['hardback', 'paperback'],
              about: [
                'A quiet book of walks, observations and drawings.',
                'A practical companion that fits the pocket of a coat.',
                'Part field guide, part diary, and wholly charming.',
              ],
            },
            {
              noun: 'wall calendar 2026',
              price: [14, 26],
              step: 40,
              sizes: ['30 × 30 cm', '42 × 60 cm'],
              about: [
                'Twelve linocuts of trees, birds and weather.',
                'A large calendar with moon phases and space for appointments.',
              ],
            },
          ],
          notes: [
            'With more than a dozen original illustrations.',
            'Printed on uncoated paper.',
            'For armchair travellers as well as for the other kind.',
            'Makes a good present.',
            'Recommended by our bookshop.',
          ],
        },
      ],
    },
    mediaDigital,
  ],
};
