/*
 * Leaves out the mutants of texts that are only words for a person: three plain words follow one another, or they are
 * what an error or the console says. Code within `${}` of such a text is left out with it. What functions/ answers to
 * callers is no such text: it is tested.
 */

const PLAIN_WORDS = /[a-z]{2,},? [a-z]+,? [a-z]{2,}/i;
/** A saved query has words of its language in a row, but its lines begin with a pipe. */
const QUERY = /^\s*\|/m;

/** What it reads of Babel's node paths, whose types Stryker does not pass on. */
interface NodePath {
  node: Node;
  parentPath: NodePath | null;
}

interface Node {
  type: string;
  value?: unknown;
  quasis?: { value: { raw: string } }[];
  callee?: { name?: string; object?: { name?: string } };
}

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'words',
    value: { shouldIgnore: (path: NodePath) => (areWords(path) ? 'only words for a person' : undefined) },
  },
];

function areWords(path: NodePath): boolean {
  const text = textOf(path.node);
  if (text === undefined) return false;
  if (PLAIN_WORDS.test(text) && !QUERY.test(text)) return true;
  for (let above = path.parentPath; above; above = above.parentPath) {
    const { type, callee } = above.node;
    if (type === 'NewExpression' && /(Error|Arguments)$/.test(callee?.name ?? '')) return true;
    if (type === 'CallExpression' && callee?.object?.name === 'console') return true;
  }
  return false;
}

function textOf({ type, value, quasis }: Node): string | undefined {
  if (type === 'StringLiteral') return String(value);
  if (type === 'TemplateLiteral') return quasis?.map((quasi) => quasi.value.raw).join('…');
  return undefined;
}
