import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/**
 * The folders of src, and those that each may import from beside itself. Every other
 * folder but `cli` is a resource. `settings` and `command-error.js` may be imported everywhere.
 */
const FOLDERS = {
  settings: [],
  database: [],
  resource: ['database'],
  http: ['database'],
  list: ['http', 'resource', 'database'],
  clients: ['http', 'resource', 'database'],
  import: ['resource', 'database'],
  schema: ['list', 'resource', 'database'],
  verify: ['schema', 'list', 'http', 'resource', 'database'],
  openapi: ['list', 'http', 'resource'],
  operations: ['schema', 'list', 'http', 'database'],
  demo: ['clients', 'import', 'resource'],
};

/**
 * Allows the files of a folder to import from some folders of src only.
 *
 * @param {string} folder
 * @param {string} allowed what a path may have behind the `../` that lead to src, as a regular expression
 * @param {string} message
 */
function boundary(folder, allowed, message) {
  // The number of `../` that lead to src grows with the depth of a file.
  return [0, 1, 2].map((depth) => ({
    files: [`src/${folder}${'/*'.repeat(depth)}/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: `^${'\\.\\./'.repeat(depth + 1)}(?!${allowed})`, message }] },
      ],
    },
  }));
}

const boundaries = Object.entries(FOLDERS).flatMap(([folder, allowed]) =>
  boundary(
    folder,
    `(${['settings', folder, ...allowed].join('|')})/|command-error\\.js$`,
    `src/${folder} may import from ${['settings', ...allowed].join(', ')} only.`,
  ),
);

const aboveResources = [...Object.keys(FOLDERS), 'cli'];

export default tseslint.config(
  { ignores: ['**/dist', 'node_modules', 'coverage', '.data', 'bench', 'examples'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // A Nest module is a class with a decorator and nothing in it.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      // Options of Nest and errors of class-validator are classes that stand for a shape.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      eqeqeq: 'error',
    },
  },
  ...boundaries,
  {
    // Resources: they see the public faces of list and resource, and the entities of each other.
    files: ['src/*/*.ts'],
    ignores: aboveResources.map((folder) => `src/${folder}/**`),
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^\\.\\./(?!(list|resource)/index\\.js$|[a-z-]+/[a-z-]+\\.entity\\.js$)',
              message:
                'A resource imports from list/index.js, resource/index.js and entities only.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['src/database/embedded/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^\\.\\./(?!\\.\\./command-error\\.js$)',
              message: 'The embedded server imports nothing of the service but command-error.js.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // The body of an answer is JSON: its shape is what the test asserts.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', URL: 'readonly', fetch: 'readonly' },
    },
  },
);
