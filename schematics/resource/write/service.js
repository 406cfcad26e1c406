import { isReserved, several } from '../names.js';
import { searchedFields } from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/** @param {Resource} resource */
export function service(resource) {
  const { names, identifier, fields, times } = resource;
  const conditions = [
    severalOf(identifier),
    ...[...fields, ...times].flatMap(conditionsOf),
    ...(searchedFields(resource).length > 0
      ? ['q: (words) => ({ words: containsWords(words) })']
      : []),
    'updatedSince: (time) => ({ updatedAt: MoreThanOrEqual(time) })',
  ];
  const text = conditions.join('\n');
  const operators = ['Any', 'LessThanOrEqual', 'MoreThanOrEqual'].filter((operator) =>
    text.includes(`${operator}(`),
  );
  const search = text.includes('containsWords')
    ? `import { containsWords } from '../list/words.js';\n`
    : '';
  return `import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ${[...operators, 'Repository'].join(', ')} } from 'typeorm';
import type { Page } from '../http/envelope.js';
import type { Listing } from '../http/listing.js';
import { findObject } from '../list/find-object.js';
import { findPage } from '../list/find-page.js';
${search}import { ${names.entity} } from './${names.file}.entity.js';
import type { Get${names.singular}Dto, List${names.plural}Dto } from './list-${names.folder}.dto.js';

@Injectable()
export class ${names.plural}Service {
  constructor(@InjectRepository(${names.entity}) private readonly ${names.property}: Repository<${names.entity}>) {}

  list(query: List${names.plural}Dto): Listing {
    return findPage(this.${names.property}, query, {
${conditions.map((condition) => `      ${condition},\n`).join('')}    });
  }

  get(${identifier}: string, query: Get${names.singular}Dto): Promise<Page> {
    return findObject(this.${names.property}, ${identifier}, query);
  }
}
`;
}

/**
 * @param {Field} field
 * @returns {string[]}
 */
function conditionsOf({ name, type, flags }) {
  if (flags.has('several')) return [severalOf(name)];
  const [least, most] = type === 'date-time' ? ['time', 'time'] : ['least', 'most'];
  return [
    ...(flags.has('exact') ? [exactly(name)] : []),
    ...(flags.has('range')
      ? [
          `${name}Min: (${least}) => ({ ${name}: MoreThanOrEqual(${least}) })`,
          `${name}Max: (${most}) => ({ ${name}: LessThanOrEqual(${most}) })`,
        ]
      : []),
  ];
}

/** @param {string} name */
function exactly(name) {
  return isReserved(name)
    ? `${name}: (value) => ({ ${name}: value })`
    : `${name}: (${name}) => ({ ${name} })`;
}

/** @param {string} name */
function severalOf(name) {
  const values = isReserved(several(name)) ? 'values' : several(name);
  return `${name}: (${values}) => ({ ${name}: Any(${values}) })`;
}
