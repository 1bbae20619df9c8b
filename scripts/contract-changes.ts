import { merge } from 'allof-merge';
import { apiDiff, type Diff } from 'api-smart-diff';
import { parse } from 'yaml';

export interface Change {
  /** What was done, and where in the contract: "add paths > /plants > get". */
  change: string;
  /** Whether callers may break by it, for a person to look at. */
  mayBreak: boolean;
}

const BOUNDS = ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern'];

/**
 * The kinds of changes for which the library's word counts that they are harmless. Of others it is wrong: of a member of
 * an answer that is gone or has another type, of a first parameter that must be sent.
 */
const HARMLESS: Record<string, Partial<Record<Diff['action'], string[]>>> = {
  requestBody: { add: ['content > *', 'properties > *'], remove: ['required > *', ...BOUNDS], replace: BOUNDS },
  responses: { add: ['headers > *', 'properties > *', 'required > *', ...BOUNDS], replace: BOUNDS },
};

/** What generated clients are named by, and where they send; the library takes both for words. */
const NOT_ONLY_WORDS = ['operationId', 'url'];

const EXAMPLE = / > content > \S+ > examples?\b/;

/** The changes from one text of the contract to another. Throws a sentence where one is no YAML. */
export function changesOf(before: string, after: string): Change[] {
  return (
    apiDiff(withoutAllOf(before), withoutAllOf(after))
      // A schema is compared where it is used. What a scheme does is told by who uses it, too.
      .filter(({ action, path: [first, second] }) => {
        return first !== 'components' || (second === 'securitySchemes' && action !== 'add');
      })
      .map((diff) => ({ change: described(diff), mayBreak: !isHarmless(diff) }))
  );
}

/** Merged, since the library compares the parts of an `allOf` one by one: it would not see what another part says. */
function withoutAllOf(text: string): unknown {
  return merge(parse(text));
}

function described({ action, path }: Diff): string {
  return `${action} ${path.join(' > ')}`;
}

function isHarmless(diff: Diff): boolean {
  const { type, action, path, after } = diff;
  const [section, part] = [path[0], String(path[3])];
  const [parent, last] = path.slice(-2).map(String);
  if (EXAMPLE.test(described(diff)) || type === 'deprecated') return true;
  if (type === 'annotation') return !NOT_ONLY_WORDS.includes(String(last));
  if (type !== 'non-breaking') return false;
  // Another scheme besides those there are, not one less.
  if (section === 'security') return action === 'add';
  // An operation; another name for a part of a path.
  if (path.length === 3 || action === 'rename') return true;
  if (part === 'parameters') return [after].flat().every((parameter) => !parameter?.required);
  const kinds = HARMLESS[part]?.[action] ?? [];
  return kinds.includes(`${parent} > *`) || (parent !== 'properties' && kinds.includes(String(last)));
}
