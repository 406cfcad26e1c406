import { quoted } from './resource.js';

/** @typedef {import('./resource.js').Resource} Resource */

/** The module of a resource. @type {(resource: Resource) => string} */
export function module({ names: { plural, entity, folder, file } }) {
  return `import { Module } from '@nestjs/common';
import { ListModule } from '@catalogue/server';
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

/** The controller of a resource. @type {(resource: Resource) => string} */
export function controller({ names, identifier }) {
  const { plural, singular, property, folder } = names;
  return `import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Listing, ObjectLookup } from '@catalogue/server';
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

/** The service of a resource. @type {(resource: Resource) => string} */
export function service(resource) {
  const { identifier, tree } = resource;
  const { plural, singular, property, entity, file, folder } = resource.names;
  // The name of any other filter says what it means.
  const conditions = [];
  const uses = ['type Listing', 'listOf', 'type ObjectLookup', 'objectOf'];
  if (resource.searched.length > 0) {
    conditions.push(
      `q: (words) => ({ words: containsWords(words, [${quoted(identifier, ...resource.searchedWhole)}]) })`,
    );
    uses.unshift('containsWords');
  }
  if (tree) {
    conditions.push(
      `within: (roots) => ({ ${tree.column}: within(${tree.target.entity}, roots) })`,
    );
    uses.push('within');
  }
  const treeImport = tree?.target.module
    ? `import { ${tree.target.entity} } from '${tree.target.module}';\n`
    : '';
  const meanings = conditions.map((condition) => `      ${condition},\n`).join('');
  return `import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ${uses.join(', ')} } from '@catalogue/server';
${treeImport}import { ${entity} } from './${file}.entity.js';
import type { Get${singular}Dto, List${plural}Dto } from './list-${folder}.dto.js';

@Injectable()
export class ${plural}Service {
  constructor(@InjectRepository(${entity}) private readonly ${property}: Repository<${entity}>) {}

  list(query: List${plural}Dto): Listing {
    return listOf(this.${property}, query${meanings && `, {\n${meanings}    }`});
  }

  get(${identifier}: string, query: Get${singular}Dto): ObjectLookup {
    return objectOf(this.${property}, ${identifier}, query);
  }
}
`;
}

/** The test of a resource, which takes its cases from the entity. @type {(resource: Resource) => string} */
export function spec({ names: { entity, folder, file }, identifier, tree, trees }) {
  // Of several trees, the test takes the resource itself.
  const isOther = tree && tree.column !== identifier && trees.length > 1;
  const option = isOther ? `, { tree: '${tree.column}' }` : '';
  return `import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../src/app.module.js';
import { ${entity} } from '../src/${folder}/${file}.entity.js';

describeList(${entity}, AppModule${option});
`;
}
