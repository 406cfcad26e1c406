/**
 * The module of a resource.
 *
 * @param {import('./resource.js').Resource} resource
 */
export function module({ names }) {
  const { plural, entity, folder, file } = names;
  return `import { Module } from '@nestjs/common';
import { ListModule } from '../list/index.js';
import { ${entity} } from './${file}.entity.js';
import { ${plural}Controller } from './${folder}.controller.js';
import { ${plural}Service } from './${folder}.service.js';

@Module({
  imports: [ListModule.forFeature(${entity})],
  controllers: [${plural}Controller],
  providers: [${plural}Service],
})
export class ${plural}Module {}
`;
}
