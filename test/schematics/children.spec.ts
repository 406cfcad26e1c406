import { HostTree } from '@angular-devkit/schematics';
import { describe, expect, it } from '@jest/globals';
import { namesOf } from '../../schematics/resource/names.js';
import { existingResources } from '../../schematics/resource/targets.js';
import { addChildren, withoutChildren } from '../../schematics/resource/write/children.js';

const DTO = '/src/makers/list-makers.dto.ts';
const ENTITY = `@Resource('makers')
export class Maker {
  @PrimaryColumn(identifierColumn)
  makerID!: string;
}
`;
const TOOL = `import { Tool } from '../tools/tool.entity.js';\n`;

/** The DTO of makers, whose query classes have these options. */
const dto = (ofOne: string, ofList: string, more = ['', '']): string =>
  `import { ListQueryDto, ObjectQueryDto, QueryOf${more[0] ?? ''} } from '../list/index.js';
${more[1] ?? ''}import { Maker, MakerKind } from './maker.entity.js';

@QueryOf(Maker${ofOne})
export class GetMakerDto extends ObjectQueryDto {}

@QueryOf(Maker${ofList})
export class ListMakersDto extends ListQueryDto {}

@QueryOf(Other, { include: ['makerID'] })
export class OtherDto extends ObjectQueryDto {}
`;

const WITH_PARTS = `, { include: [children(Part, { limit: 5, sort: '-name' })] }`;
const LONG = `, {
  sort: ['makerID', 'name', 'createdAt', 'updatedAt', 'kind', 'country'],
  include: ['ownerID', 'countryID'],
}`;

/** The DTO of makers once it has to include their tools. */
async function withTools(text: string | undefined, entity = ENTITY): Promise<string> {
  const tree = new HostTree();
  tree.create('/src/makers/maker.entity.ts', entity);
  if (text !== undefined) tree.create(DTO, text);
  const maker = existingResources(tree).get('makers');
  if (!maker) throw new Error('There are no makers');
  await addChildren(tree, maker, namesOf('tools', undefined));
  return tree.readText(DTO);
}

describe('The children that a generated resource becomes', () => {
  it.each([
    [
      'without options',
      '',
      '',
      ', { include: [children(Tool)] }',
      ', { include: [children(Tool)] }',
    ],
    [
      'without include',
      ', { reads: [Owner] }',
      `, { sort: ['makerID', 'name'] }`,
      ', { reads: [Owner], include: [children(Tool)] }',
      `, { sort: ['makerID', 'name'], include: [children(Tool)] }`,
    ],
    [
      'with others in include',
      `, { include: ['ownerID'] }`,
      LONG,
      `, { include: ['ownerID', children(Tool)] }`,
      LONG.replace(`'countryID'`, `'countryID', children(Tool)`),
    ],
  ])(
    'are included by query classes %s, and taken out again',
    async (_, one, list, ofOne, ofList) => {
      const expected = dto(ofOne, ofList, [', children', TOOL]);
      expect(await withTools(dto(one, list))).toBe(expected);
      expect(await withoutChildren(expected, 'Tool')).toBe(dto(one, list));
    },
  );

  it('are included beside other children, and taken out also with options', async () => {
    const before = dto(WITH_PARTS, WITH_PARTS, [', children']);
    const after = WITH_PARTS.replace('] }', ', children(Tool)] }');
    const expected = dto(after, after, [', children', TOOL]);
    expect(await withTools(before)).toBe(expected);
    for (const options of [', { limit: 3 }', `, {\n  limit: 3,\n  sort: '-name',\n}`]) {
      const changed = expected.replaceAll('(Tool)', `(Tool${options})`);
      expect(await withoutChildren(changed, 'Tool')).toBe(before);
    }
  });

  it.each([
    ['has no such file', undefined],
    ['has no query class', dto('', '').replaceAll('Maker', 'Other')],
    ['names what it includes elsewhere', dto('', ', { include: INCLUDED }')],
    ['copies options', dto('', ', { ...OPTIONS }')],
    ['names its options elsewhere', dto('', ', OPTIONS')],
    ['has a comment at the end of its options', dto('', `, {\n  sort: ['name'], // By name.\n}`)],
    ['names another thing like the entity', dto('', '').replace('MakerKind', 'Tool')],
  ])('are refused where the parent %s', async (_, text) => {
    const what = text === undefined ? 'is not there' : 'is not as it would be generated';
    await expect(withTools(text)).rejects.toThrow(
      `src/makers/list-makers.dto.ts ${what}: leave out the flag children, and write children(Tool) into include of each @QueryOf(Maker)`,
    );
  });

  it.each(['tools', 'toolsCount'])('are refused where the parent has a field %s', async (name) => {
    const entity = ENTITY.replace('}\n', `  @Column()\n  ${name}!: string;\n}\n`);
    await expect(withTools(dto('', ''), entity)).rejects.toThrow(
      `Maker cannot include tools: it has a field ${name}`,
    );
  });

  it.each([
    ['are named elsewhere', `const TOOLS = children(Tool);\n`],
    ['are filtered by', `const tools = having(Tool, {});\n`],
  ])('stay where they %s', async (_, more) => {
    const text = dto('', ', { include: [children(Tool)] }', [', children', TOOL]) + more;
    expect(await withoutChildren(text, 'Tool')).toBe(text);
  });
});
