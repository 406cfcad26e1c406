import type { MigrationInterface, QueryRunner } from 'typeorm';
import { BRACKETED } from './1764288000000-separate-words.js';

/**
 * Has searches ignore accents, find the beginnings of words, and tell words of a title from others. The
 * language of a search can be chosen.
 *
 * A searched column contains these lexemes:
 *
 * - each word, or in another language than `simple` its stem;
 * - `^` before it: the same of the words of the title, which is the first searched text of an object;
 * - in another language than `simple`, `*` and `^*` before it: each word as it is, for the search for
 *   beginnings.
 *
 * No word contains `^` or `*`, since they separate words.
 */
export class FoldWords1764460800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const [{ home }] = (await runner.query('SELECT quote_ident(current_schema()) AS home')) as [
      { home: string },
    ];
    const language = await chosenLanguage(runner);
    for (const statement of functions(home, await lowerCollation(runner), language)) {
      await runner.query(statement);
    }
    for (const { resource, columns } of await searchedResources(runner)) {
      // Words by any other trigger stay as they are.
      if (columns.length === 0) continue;
      await runner.query('SELECT install_words($1, $2)', [resource, columns]);
      await runner.query('SELECT rebuild_words($1)', [resource]);
      await runner.query(`ANALYZE "${resource}"`);
    }
    await runner.query('DROP FUNCTION IF EXISTS "keep_product_words"()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE OR REPLACE FUNCTION "search_text"(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
         SELECT regexp_replace(normalize($1), '[${BRACKETED}]', ' ', 'g')
       $$`,
    );
    await runner.query(
      `CREATE OR REPLACE FUNCTION "object_words"(title text, texts text) RETURNS tsvector
       LANGUAGE sql STABLE AS $$ SELECT to_tsvector('simple', search_text(texts)) $$`,
    );
    const searches = (await runner.query(
      'SELECT resource, columns FROM searches ORDER BY resource',
    )) as { resource: string; columns: string[] }[];
    for (const { resource, columns } of searches) {
      const name = resource === 'products' ? 'keep_product_words' : `keep_${resource}_words`;
      const texts = columns.map((column) => `NEW."${column}"`).join(', ');
      await runner.query('SELECT rebuild_words($1)', [resource]);
      await runner.query(`DROP TRIGGER "${resource}_words" ON "${resource}"`);
      await runner.query(`DROP FUNCTION "keep_${resource}_words"()`);
      await runner.query(
        `CREATE FUNCTION "${name}"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
         BEGIN
           NEW."words" := to_tsvector('simple', search_text(concat_ws(' ', ${texts})));
           RETURN NEW;
         END $$`,
      );
      await runner.query(
        `CREATE TRIGGER "${resource}_words" BEFORE INSERT OR UPDATE OF ${columns.map((column) => `"${column}"`).join(', ')} ON "${resource}"
         FOR EACH ROW EXECUTE FUNCTION "${name}"()`,
      );
    }
    await runner.query('DROP TABLE "searches"');
    await runner.query(
      `DROP FUNCTION install_words(text, text[]), remove_words(text), rebuild_words(text),
         object_words(text, text), search_query(text, text[], boolean), search_lexemes(text, boolean),
         search_words(text), search_language()`,
    );
  }
}

/** The resources that are searched, and the columns whose words they have. None: its trigger is of another form. */
async function searchedResources(
  runner: QueryRunner,
): Promise<{ resource: string; columns: string[] }[]> {
  const rows = (await runner.query(
    `SELECT relname AS resource, prosrc AS source
     FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE relnamespace = current_schema()::regnamespace AND tgname = relname || '_words' ORDER BY relname`,
  )) as { resource: string; source: string }[];
  return rows.map(({ resource, source }) => {
    const [, texts = ''] = TRIGGER.exec(source) ?? [];
    return { resource, columns: [...texts.matchAll(/"(\w+)"/g)].map(([, column = '']) => column) };
  });
}

/** The assignment in triggers before this migration. */
const TRIGGER =
  /:= to_tsvector\('simple', search_text\(concat_ws\(' ', (NEW\."\w+"(?:, NEW\."\w+")*)\)\)\)/;

/** The language that `chooseSearchLanguage` has set in the session. */
async function chosenLanguage(runner: QueryRunner): Promise<string> {
  const [{ language }] = (await runner.query(
    `SELECT coalesce(nullif(current_setting('catalogue.search_language', true), ''), 'simple') AS language`,
  )) as [{ language: string }];
  return language;
}

/**
 * A collation that knows the case of every letter, as `COLLATE …`. The collation `C` knows only those of
 * ASCII. If a database has no other, other letters keep their case. A function without one would take the
 * collation of the column that it is called with, which is `C` for names.
 */
async function lowerCollation(runner: QueryRunner): Promise<string> {
  const [row] = (await runner.query(
    `SELECT CASE WHEN lower('ÉЖ') = 'éж' THEN 'COLLATE pg_catalog."default"' ELSE coalesce((
       SELECT format('COLLATE %I.%I', nspname, collname)
       FROM pg_collation JOIN pg_namespace ON pg_namespace.oid = collnamespace
       WHERE collname = ANY('{pg_c_utf8,und-x-icu,C.utf8,en_US.utf8}')
       ORDER BY array_position('{pg_c_utf8,und-x-icu,C.utf8,en_US.utf8}', collname::text) LIMIT 1
     ), 'COLLATE "C"') END AS collation`,
  )) as { collation: string }[];
  return row?.collation ?? 'COLLATE "C"';
}

/** The characters of words beyond ASCII, as ranges of a bracket expression: letters, digits and marks. */
function wordCharacters(): string {
  const escape = (code: number): string => `\\U${code.toString(16).padStart(8, '0')}`;
  const ranges: string[] = [];
  let first: number | undefined;
  for (let code = 0x80; code <= 0x110000; code += 1) {
    const isIncluded = code < 0x110000 && /[\p{L}\p{N}\p{M}]/u.test(String.fromCodePoint(code));
    if (isIncluded) {
      first ??= code;
    } else if (first !== undefined) {
      ranges.push(first === code - 1 ? escape(first) : `${escape(first)}-${escape(code - 1)}`);
      first = undefined;
    }
  }
  return ranges.join('');
}

/**
 * What is left out of words: accents of any script, points of Hebrew and Arabic, variation selectors, and what
 * joins or divides the parts of a word without being seen.
 */
const ACCENTS =
  '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f' +
  '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u064b-\\u065f\\u0670' +
  '\\ufe00-\\ufe0f\\U000e0100-\\U000e01ef\\u00ad\\u200c\\u200d';
/** Letters that have no decomposition, and what they are searched as. */
const LETTERS = { from: 'øłđðħıŧς', to: 'olddhitσ' };
const LIGATURES = { ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' };

/**
 * The functions of searches. Their names are qualified, since writers come with search paths of their own.
 *
 * @param home the schema, quoted
 * @param language without quotes, which `Settings` does not admit
 */
function functions(home: string, collation: string, language: string): string[] {
  const ligatures = Object.entries(LIGATURES).reduce(
    (text, [from, to]) => `replace(${text}, '${from}', '${to}')`,
    'folded',
  );
  return [
    'CREATE TABLE "searches" ("resource" text PRIMARY KEY, "columns" text[] NOT NULL)',
    'DROP FUNCTION "search_text"(text)',
    // The words of a text, folded, with a space between them. A text without accents takes a short way.
    `CREATE FUNCTION "search_text"(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
     DECLARE
       folded text := $1;
     BEGIN
       IF octet_length(folded) = length(folded) THEN
         RETURN btrim(regexp_replace(lower(folded COLLATE "C"), '[^a-z0-9]+', ' ', 'g'));
       END IF;
       folded := regexp_replace(normalize(folded, NFKD), '[${ACCENTS}]+', '', 'g');
       IF octet_length(folded) = length(folded) THEN
         RETURN btrim(regexp_replace(lower(folded COLLATE "C"), '[^a-z0-9]+', ' ', 'g'));
       END IF;
       folded := translate(lower(folded ${collation}), '${LETTERS.from}', '${LETTERS.to}');
       folded := ${ligatures};
       RETURN btrim(regexp_replace(normalize(folded, NFKC), '[^a-z0-9${wordCharacters()}]+', ' ', 'g'));
     END $$`,
    // The configuration by whose dictionaries words are stemmed.
    `CREATE FUNCTION "search_language"() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '${language}' $$`,
    // A lexeme has at most 2046 bytes. Longer words are left out.
    `CREATE FUNCTION "search_words"(text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
     DECLARE
       folded text := ${home}.search_text($1);
     BEGIN
       IF octet_length(folded) > 2000 AND folded ~ '[^ ]{250}' THEN
         RETURN ARRAY(
           SELECT word FROM unnest(string_to_array(folded, ' ')) words(word) WHERE octet_length(word) <= 2000
         );
       END IF;
       RETURN coalesce(string_to_array(folded, ' '), '{}');
     END $$`,
    `CREATE FUNCTION "object_words"(title text, texts text) RETURNS tsvector
     LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
     DECLARE
       language text := ${home}.search_language();
       words text[] := ${home}.search_words(texts);
       titled text[] := ${home}.search_words(title);
       stems text[];
       titled_stems text[];
     BEGIN
       IF language = 'simple' THEN
         IF titled = '{}' THEN RETURN array_to_tsvector(words); END IF;
         RETURN array_to_tsvector(words || string_to_array('^' || array_to_string(titled, ' ^'), ' '));
       END IF;
       stems := tsvector_to_array(to_tsvector(language::regconfig, array_to_string(words, ' ')));
       titled_stems := tsvector_to_array(to_tsvector(language::regconfig, array_to_string(titled, ' ')));
       RETURN array_to_tsvector(stems || ARRAY(
         SELECT '*' || word FROM unnest(words) each(word)
         UNION ALL SELECT '^' || word FROM unnest(titled_stems) each(word)
         UNION ALL SELECT '^*' || word FROM unnest(titled) each(word)
       ));
     END $$`,
    // The lexemes that an object with all words of a text has, without repetitions. If the language leaves
    // out every word, as English does with "the", they are searched as they are.
    `CREATE FUNCTION "search_lexemes"(texts text, in_title boolean) RETURNS text[]
     LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
     DECLARE
       language text := ${home}.search_language();
       words text[] := ${home}.search_words(texts);
       lexemes text[] := words;
     BEGIN
       IF language <> 'simple' THEN
         lexemes := tsvector_to_array(to_tsvector(language::regconfig, array_to_string(words, ' ')));
         IF lexemes = '{}' THEN lexemes := ARRAY(SELECT '*' || word FROM unnest(words) each(word)); END IF;
       END IF;
       RETURN ARRAY(
         SELECT DISTINCT CASE WHEN in_title THEN '^' ELSE '' END || lexeme FROM unnest(lexemes) each(lexeme)
         ORDER BY 1
       );
     END $$`,
    // Finds all words of a text, and a word with each of the beginnings.
    `CREATE FUNCTION "search_query"(texts text, beginnings text[], in_title boolean) RETURNS tsquery
     LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
     DECLARE
       mark text := CASE WHEN in_title THEN '^' ELSE '' END
         || CASE ${home}.search_language() WHEN 'simple' THEN '' ELSE '*' END;
     BEGIN
       RETURN (
         SELECT coalesce(string_agg(operand, ' & '), '') FROM (
           SELECT format('''%s''', replace(replace(lexeme, '\\', '\\\\'), '''', '''''')) AS operand
           FROM unnest(${home}.search_lexemes(texts, in_title)) each(lexeme)
           UNION ALL
           -- A beginning may fold into several words. The last one goes on.
           SELECT format('''%s''%s', mark || word, CASE WHEN at = cardinality(words) THEN ':*' ELSE '' END)
           FROM unnest(beginnings) each(beginning)
           CROSS JOIN LATERAL ${home}.search_words(beginning) words
           CROSS JOIN LATERAL unnest(words) WITH ORDINALITY parts(word, at)
         ) operands
       )::tsquery;
     END $$`,
    // Creates the trigger that sets the column "words" from columns, of which the first is the title.
    `CREATE FUNCTION "install_words"(of_resource text, columns text[]) RETURNS void LANGUAGE plpgsql AS $install$
     DECLARE
       home text := quote_ident(current_schema());
       keep text := 'keep_' || of_resource || '_words';
     BEGIN
       PERFORM remove_words(of_resource);
       EXECUTE format(
         'CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
          BEGIN
            NEW."words" := %s.object_words(NEW."%s", concat_ws('' '', %s));
            RETURN NEW;
          END $body$', keep, home, columns[1],
         (SELECT string_agg(format('NEW."%s"', name), ', ' ORDER BY at) FROM unnest(columns) WITH ORDINALITY each(name, at)));
       EXECUTE format(
         'CREATE TRIGGER %I BEFORE INSERT OR UPDATE OF %s ON %I FOR EACH ROW EXECUTE FUNCTION %I()',
         of_resource || '_words', (SELECT string_agg(format('%I', name), ', ') FROM unnest(columns) each(name)),
         of_resource, keep);
       INSERT INTO searches VALUES (of_resource, columns);
     END $install$`,
    `CREATE FUNCTION "remove_words"(of_resource text) RETURNS void LANGUAGE plpgsql AS $remove$
     BEGIN
       EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I', of_resource || '_words', of_resource);
       EXECUTE format('DROP FUNCTION IF EXISTS %I()', 'keep_' || of_resource || '_words');
       DELETE FROM searches WHERE resource = of_resource;
     END $remove$`,
    // Computes the words of every object anew. Readers go on; writers wait until the transaction ends.
    `CREATE FUNCTION "rebuild_words"(of_resource text) RETURNS void LANGUAGE plpgsql AS $rebuild$
     DECLARE
       texts text[] := (SELECT columns FROM searches WHERE resource = of_resource);
       joined text := (
         SELECT format('concat_ws('' '', %s)', string_agg(format('%I', name), ', ' ORDER BY at))
         FROM unnest(texts) WITH ORDINALITY each(name, at)
       );
       disabled text;
       enabled text;
       suffix text;
     BEGIN
       EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', of_resource);
       SELECT coalesce(string_agg(format('ALTER TABLE %I DISABLE TRIGGER %I', of_resource, tgname), ';'), 'SELECT'),
         coalesce(string_agg(format('ALTER TABLE %I ENABLE %s TRIGGER %I', of_resource,
           CASE tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, tgname), ';'), 'SELECT')
       INTO disabled, enabled
       FROM pg_trigger
       WHERE tgrelid = quote_ident(of_resource)::regclass AND NOT tgisinternal AND tgenabled <> 'D';
       -- No field changes: neither do times, tallies of other columns, and deletions.
       EXECUTE disabled;
       EXECUTE format(
         'UPDATE %1$I SET "words" = object_words(%2$I, %3$s) WHERE "words" IS DISTINCT FROM object_words(%2$I, %3$s)',
         of_resource, texts[1], joined);
       EXECUTE enabled;
       -- Maintenance chooses and counts words anew. The words come first: a count that has just ended is then
       -- deleted with the others, and one under way fails.
       IF to_regclass(quote_ident(of_resource || '_tally_by_words')) IS NOT NULL THEN
         FOREACH suffix IN ARRAY '{_counted,"",_deltas}'::text[] LOOP
           EXECUTE format('DELETE FROM %I', of_resource || '_tally_by_words' || suffix);
         END LOOP;
       END IF;
       INSERT INTO resource_versions
       VALUES (of_resource, 1 + floor(random() * 4611686018427387904::numeric));
     END $rebuild$`,
  ];
}
