/** @typedef {import('./fields.js').Flag} Flag */

/** A column has facets if it has at most so many values, each of them in so many rows on average. */
const FACETS = { minimum: 2, maximum: 500, rows: 5 };
/** Maximum characters of a text that somebody picks from a list or types whole. */
const MAXIMUM_TYPED = 100;
/** Minimum words of a text that is searched, on average. */
const MINIMUM_WORDS = 2;
/** Minimum rows of a text that is both searched and filtered by, on average. */
const MINIMUM_REPEATED = 2;

const NAME = /^(name|title|label)$/i;
const LINK = /^https?:\/\//i;
/** Two times of day, as opening hours have them. */
const HOURS = /(\d:\d\d|\d\s?[ap]\.?m\b).*(\d:\d\d|\d\s?[ap]\.?m\b)/is;

/**
 * What a column of texts is used for, and why.
 *
 * @param {string} name
 * @param {{ distinct: ReadonlySet<string>, values: number, longest: number }} column
 * @returns {{ flags: readonly Flag[], why: string }}
 */
export function textUse(name, column) {
  const { distinct, values, longest } = column;
  const texts = [...distinct];
  /** @param {(text: string) => boolean} holds */
  const mostly = (holds) => texts.filter(holds).length * 2 > texts.length;
  const isTyped = longest <= MAXIMUM_TYPED;
  if (NAME.test(name)) return { flags: ['exact', 'sort', 'words'], why: 'a name' };
  if (mostly((text) => HOURS.test(text))) return { flags: [], why: 'times of day' };
  if (mostly((text) => LINK.test(text))) return { flags: [], why: 'links' };
  const words =
    texts.reduce((sum, text) => sum + text.trim().split(/\s+/).length, 0) / texts.length;
  const isProse =
    words >= MINIMUM_WORDS && mostly((text) => count(text, /\p{L}/gu) > count(text, /\d/g));
  /** @type {Flag[]} */
  const searched = isProse ? ['words'] : [];
  if (isTyped && hasFacets(column)) {
    return {
      flags: ['several', 'counted', ...searched],
      why: `${distinct.size} values in ${values} rows`,
    };
  }
  if (isProse && isTyped && values >= MINIMUM_REPEATED * distinct.size) {
    return { flags: ['exact', 'words'], why: 'several words, repeated' };
  }
  if (isProse) return { flags: ['words'], why: 'several words' };
  if (words >= MINIMUM_WORDS) return { flags: [], why: 'more digits than letters' };
  if (isTyped) return { flags: ['exact'], why: 'single words or codes' };
  return { flags: [], why: 'too long to be typed' };
}

/**
 * Whether the values of a column are few and repeated, so that each of them is a facet.
 *
 * @param {{ distinct: ReadonlySet<string>, values: number }} column
 */
export function hasFacets({ distinct: { size }, values }) {
  return size >= FACETS.minimum && size <= FACETS.maximum && size * FACETS.rows <= values;
}

/**
 * @param {string} text
 * @param {RegExp} pattern
 */
function count(text, pattern) {
  return text.match(pattern)?.length ?? 0;
}
