import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/**
 * The folders of packages/server/src, and those that each may import from beside itself; `cli` may import from all.
 * `settings` and the files of `EVERYWHERE` may be imported everywhere.
 */
const FOLDERS = {
  settings: [],
  database: [],
  resource: ['database'],
  http: ['resource', 'database'],
  tally: ['resource', 'database'],
  list: ['tally', 'http', 'resource', 'database'],
  declarations: ['list', 'http', 'resource'],
  clients: ['http', 'resource', 'database'],
  import: ['resource', 'database'],
  schema: ['list', 'tally', 'resource', 'database'],
  verify: ['schema', 'list', 'tally', 'http', 'resource', 'database'],
  openapi: ['list', 'http', 'resource'],
  operations: ['schema', 'list', 'tally', 'http', 'database'],
  demo: ['clients', 'import', 'resource', 'database'],
};

const SERVER = 'packages/server/src';

/** The folders of packages/server/src/list, and those that each may import from beside itself. */
const LIST_FOLDERS = {
  query: [],
  condition: ['query'],
  listing: ['condition', 'query'],
  deletions: ['listing', 'condition', 'query'],
  visibility: ['deletions', 'listing', 'condition', 'query'],
  statement: ['visibility', 'listing', 'condition', 'query'],
  plan: ['statement', 'listing', 'condition', 'query'],
  reading: ['plan', 'statement', 'visibility', 'listing', 'condition', 'query'],
  facets: ['reading', 'statement', 'visibility', 'listing', 'condition', 'query'],
  changes: ['reading', 'statement', 'visibility', 'deletions', 'listing', 'condition', 'query'],
  serving: ['changes', 'facets', 'reading', 'visibility', 'listing'],
};

const EVERYWHERE = ['command-error', 'package', 'project', 'private-api/\\w+'];

/** What libraries do not document. */
const PRIVATE = {
  regex: '^(@nestjs/common/|class-transformer/|pg/|typeorm/metadata/IndexMetadata)',
  message: 'What is private of a library stands in packages/server/src/private-api.',
};

/** Refuses the imports of some files whose paths match one of the patterns. */
function restrictedImports(files, ...patterns) {
  return {
    files: [files],
    rules: { 'no-restricted-imports': ['error', { patterns: [PRIVATE, ...patterns] }] },
  };
}

/**
 * The imports out of a folder of packages/server/src that are not allowed.
 *
 * @param {number} depth of the folders between it and the file
 */
function outOf(folder, depth) {
  const allowed = ['settings', ...FOLDERS[folder]];
  return {
    regex: `^${'\\.\\./'.repeat(depth + 1)}(?!(${[folder, ...allowed].join('|')})/|(${EVERYWHERE.join('|')})\\.js$)`,
    message: `${SERVER}/${folder} may import from ${allowed.join(', ')} only.`,
  };
}

const boundaries = [
  { ...restrictedImports(`${SERVER}/*.ts`), ignores: [`${SERVER}/*.d.ts`] },
  // The number of `../` that lead to its root grows with the depth of a file.
  ...Object.keys(FOLDERS).flatMap((folder) =>
    [0, 1, 2].map((depth) =>
      restrictedImports(`${SERVER}/${folder}${'/*'.repeat(depth)}/*.ts`, outOf(folder, depth)),
    ),
  ),
  ...Object.entries(LIST_FOLDERS).map(([folder, allowed]) =>
    restrictedImports(`${SERVER}/list/${folder}/*.ts`, outOf('list', 1), {
      regex: `^\\.\\./(?!\\.\\./|(${allowed.join('|') || '-'})/)`,
      message: `${SERVER}/list/${folder} may import from ${allowed.join(', ') || 'no other folder'} of list only.`,
    }),
  ),
];

export default tseslint.config(
  {
    ignores: [
      '**/dist',
      '**/.dist-*',
      'node_modules',
      'coverage',
      '.data',
      'bench',
      'examples',
      'packages/mcp',
      'packages/server/template',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', 'packages/embedded-postgres/src/*.js'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      // `projectService` would build the program of `packages/server` twice.
      parserOptions: { project: true, tsconfigRootDir: import.meta.dirname },
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
  {
    files: ['src/**', 'packages/*/src/**'],
    ignores: [`${SERVER}/testing/*.ts`],
    rules: { 'max-lines-per-function': ['error', 60] },
  },
  ...boundaries,
  // Resources: they see the public API of the package, and the entities of each other.
  restrictedImports('src/*/*.ts', {
    regex: '^(#|\\.\\./(?![a-z-]+/[a-z-]+\\.entity\\.js$))',
    message: 'A resource imports from @catalogue/server and entities only.',
  }),
  restrictedImports('packages/embedded-postgres/**', {
    regex:
      '^(#server/|@catalogue/|(\\.\\./)+(src|test|dist|packages|demo|server|schematics|create|client)/)',
    message: 'A package imports nothing of the service.',
  }),
  {
    files: ['test/**/*.ts', 'packages/*/test/**', `${SERVER}/testing/*.ts`],
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
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
      },
    },
  },
  {
    files: ['packages/embedded-postgres/src/*.js'],
    rules: {
      // The compiler checks them, with the types in the comments.
      'no-undef': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      // A comment says what was parsed.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
