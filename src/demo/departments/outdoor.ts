import type { Department } from '../department.js';
import { outdoorHiking } from './outdoor-hiking.js';
import { outdoorCycling } from './outdoor-cycling.js';

export const outdoor: Department = {
  id: 'outdoor',
  name: 'Outdoor & cycling',
  children: [outdoorHiking, outdoorCycling],
};
