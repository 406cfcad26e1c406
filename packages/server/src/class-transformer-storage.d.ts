/** What the decorators of class-transformer have declared. The package has no types at this path. */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage.js';
}
