// The package does not export it.
import { EntitiesMetadataStorage } from '../../node_modules/@nestjs/typeorm/dist/entities-metadata.storage.js';

const { storage } = EntitiesMetadataStorage;
// The setup may have loaded the entities of the build in this process.
storage.clear();
await import('../../packages/server/src/catalogue.module.ts');
await import('../../src/app.module.ts');
const ofService = [...storage].map(([dataSource, entities]) => [dataSource, [...entities]]);

/** Makes `@nestjs/typeorm` forget the entities of test resources, which would be part of every later application. */
export function forgetEntities() {
  storage.clear();
  for (const [dataSource, entities] of ofService) storage.set(dataSource, [...entities]);
}
