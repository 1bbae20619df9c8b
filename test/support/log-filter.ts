import type { LogLine } from './log-lines.ts';

type Value = LogLine[string];

/** Each of these compares what a line has with what a filter says. A number is not compared with text. */
const OPERATORS: Record<string, (found: Value, wanted: Value) => boolean> = {
  '=': (found, wanted) => found === wanted,
  '!=': (found, wanted) => found !== wanted,
  '>': (found, wanted) => Number(found) > Number(wanted),
  '>=': (found, wanted) => Number(found) >= Number(wanted),
};

/**
 * Whether a line passes a filter: the command "filter" of Logs Insights, or, with `$.` before its fields, a metric
 * filter's JSON pattern. It throws on operators other than the few that are used here, on a number compared with text,
 * and on `!=` where a line lacks the field, which the two languages may take differently.
 *
 * Source: "filter" and "Supported operations and functions" (CloudWatch Logs Insights), "Filter pattern syntax for
 * metric filters".
 */
export function passes(filter: string, line: LogLine): boolean {
  const tokens = filter.match(/"[^"]*"|[$@\w][$@\w.]*|!=|>=|\|\||\S/g) ?? [];

  function expect(...wanted: string[]): string {
    const token = tokens.shift() ?? '';
    if (!wanted.includes(token)) throw new Error(`"${filter}" has "${token}" in the place of ${wanted.join(' or ')}.`);
    return token;
  }

  function anyOf(): boolean {
    let passed = operand();
    while (tokens[0] === 'or' || tokens[0] === '||' || tokens[0] === 'and') {
      const and = tokens.shift() === 'and';
      const next = operand();
      passed = and ? passed && next : passed || next;
      if (tokens[0] === (and ? 'or' : 'and')) throw new Error(`"${filter}" mixes "and" with "or" without brackets.`);
    }
    return passed;
  }

  function operand(): boolean {
    const token = tokens.shift() ?? '';
    if (token === 'not') return !operand();
    if (token === '(') {
      const passed = anyOf();
      expect(')');
      return passed;
    }
    if (token === 'ispresent') {
      expect('(');
      const field = tokens.shift() ?? '';
      expect(')');
      return fieldOf(line, field) !== undefined;
    }
    const found = fieldOf(line, token);
    const operator = expect(...Object.keys(OPERATORS), 'in', 'like');
    if (operator === 'in') {
      const wanted = [];
      expect('[');
      do wanted.push(literal());
      while (expect(',', ']') === ',');
      return found !== undefined && wanted.some((each) => each === found);
    }
    const wanted = literal();
    if (operator === 'like') return String(found).includes(String(wanted));
    if (found === undefined && operator === '!=') throw new Error(`"${filter}" compares ${token}, which a line lacks.`);
    if (found === undefined) return false;
    if (typeof found !== typeof wanted) throw new Error(`"${filter}" compares ${token}, a ${typeof found}.`);
    return OPERATORS[operator]?.(found, wanted) ?? false;
  }

  function literal(): string | number {
    const token = tokens.shift() ?? '';
    if (token.startsWith('"')) return token.slice(1, -1);
    if (/^\d+$/.test(token)) return Number(token);
    throw new Error(`"${filter}" has "${token}" in the place of a value.`);
  }

  const passed = anyOf();
  if (tokens.length > 0) throw new Error(`"${filter}" goes on with "${tokens[0]}".`);
  return passed;
}

/** What a line has under a field, such as `message.error` or `$.message.error`; `@message` is the whole line. */
export function fieldOf(line: LogLine, field: string): Value | undefined {
  if (field === '@message') return JSON.stringify(line);
  let value: Value | undefined = line;
  for (const member of field.replace(/^\$\./, '').split('.')) {
    value = typeof value === 'object' && value !== null ? value[member] : undefined;
  }
  return value;
}
