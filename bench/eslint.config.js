import root from '../eslint.config.js';

// The rules of the project, for a folder that has its own dependencies.
export default [
  { ignores: ['dist', 'node_modules', '.data', 'results'] },
  ...root.filter(({ ignores, files }) => !ignores || files),
  // A run that is measured stands in one function, step by step.
  { rules: { 'max-lines-per-function': 'off', 'no-restricted-imports': 'off' } },
];
