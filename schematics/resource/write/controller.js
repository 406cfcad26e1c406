/**
 * The controller of a resource.
 *
 * @param {import('./resource.js').Resource} resource
 */
export function controller({ names, identifier }) {
  const { plural, singular, property, folder } = names;
  return `import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Listing, ObjectLookup } from '../list/index.js';
import { ${plural}Service } from './${folder}.service.js';
import { Get${singular}Dto, List${plural}Dto } from './list-${folder}.dto.js';

@Controller('${names.resource}')
export class ${plural}Controller {
  constructor(private readonly ${property}: ${plural}Service) {}

  @Get()
  list(@Query() query: List${plural}Dto): Listing {
    return this.${property}.list(query);
  }

  @Get(':${identifier}')
  get(@Param('${identifier}') ${identifier}: string, @Query() query: Get${singular}Dto): ObjectLookup {
    return this.${property}.get(${identifier}, query);
  }
}
`;
}
