import { searchedFields, treeFilter } from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/**
 * The service of a resource.
 *
 * @param {Resource} resource
 */
export function service(resource) {
  const { names, identifier, fields, times } = resource;
  // A filter with the name of a column means equality and needs no condition.
  const conditions = [...fields, ...times].flatMap(boundsOf);
  const uses = ['type Listing', 'listOf', 'type ObjectLookup', 'objectOf'];
  if (searchedFields(resource).length > 0) {
    conditions.push(`q: (words) => ({ words: containsWords(words, ['${identifier}']) })`);
    uses.unshift('containsWords');
  }
  const tree = treeFilter(resource);
  if (tree) {
    const { column, target } = tree;
    conditions.push(`within: (roots) => ({ ${column}: within(${target.entity}, roots) })`);
    uses.push('within');
  }
  const module = tree?.target.module ?? '';
  const treeImport =
    tree && module !== '' ? `import { ${tree.target.entity} } from '${module}';\n` : '';
  const operators = conditions.some((condition) => condition.includes('MoreThanOrEqual('))
    ? ['LessThanOrEqual', 'MoreThanOrEqual']
    : [];
  const meanings =
    conditions.length === 0
      ? ''
      : `, {\n${conditions.map((condition) => `      ${condition},\n`).join('')}    }`;
  return `import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ${[...operators, 'Repository'].join(', ')} } from 'typeorm';
import { ${uses.join(', ')} } from '../list/index.js';
${treeImport}import { ${names.entity} } from './${names.file}.entity.js';
import type { Get${names.singular}Dto, List${names.plural}Dto } from './list-${names.folder}.dto.js';

@Injectable()
export class ${names.plural}Service {
  constructor(@InjectRepository(${names.entity}) private readonly ${names.property}: Repository<${names.entity}>) {}

  list(query: List${names.plural}Dto): Listing {
    return listOf(this.${names.property}, query${meanings});
  }

  get(${identifier}: string, query: Get${names.singular}Dto): ObjectLookup {
    return objectOf(this.${names.property}, ${identifier}, query);
  }
}
`;
}

/**
 * The conditions of the two filters by a bound.
 *
 * @param {Field} field
 * @returns {string[]}
 */
function boundsOf({ name, type, flags }) {
  if (!flags.has('interval')) return [];
  const [minimum, maximum] =
    type === 'date-time' || type === 'date' ? ['time', 'time'] : ['minimum', 'maximum'];
  return [
    `${name}Min: (${minimum}) => ({ ${name}: MoreThanOrEqual(${minimum}) })`,
    `${name}Max: (${maximum}) => ({ ${name}: LessThanOrEqual(${maximum}) })`,
  ];
}
