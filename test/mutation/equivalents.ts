/** A mutant that no test can notice. */
export interface Equivalent {
  /** What it changes, on one line. */
  code: string;
  /** What it puts there, on one line. */
  becomes: string;
  because: string;
}

/** By file. */
export const EQUIVALENTS: Record<string, Equivalent[]> = {
  'functions/create-plant/plants-table.ts': [
    {
      code: 'Buffer.byteLength(texts) > MAX_ITEM_BYTES',
      becomes: 'Buffer.byteLength(texts) >= MAX_ITEM_BYTES',
      because: 'The names count too, so that texts of 400 KB are as much too large as one byte more.',
    },
  ],
  'functions/shared/access-tokens-table.ts': [
    {
      code: 'name === undefined',
      becomes: 'false',
      because: 'No name is answered, and none remembered, alike; the types do not know.',
    },
  ],
  'functions/shared/error-response.ts': [
    {
      code: 'character.codePointAt(0)?.toString',
      becomes: 'character.codePointAt(0).toString',
      because: 'A character that was found has a code point; the types do not know.',
    },
  ],
  'functions/shared/exact-numbers.ts': [
    {
      code: 'member === undefined',
      becomes: 'false',
      because: 'A path has at least one name, since a body is an object; the types do not know.',
    },
    {
      code: "typeof value[name] === 'number'",
      becomes: 'true',
      because: 'What is no number is the same in the body that is parsed exactly; it only saves parsing that.',
    },
  ],
  'functions/shared/identity-provider.mts': [
    { code: "'name' in verdict", becomes: 'true', because: 'No name is remembered as none; the types do not know.' },
  ],
  'functions/shared/typed-parameters.ts': [
    {
      code: 'text !== undefined',
      becomes: 'true',
      because: 'The text "undefined" is no number either, so that none stays none; the types do not know.',
    },
    {
      code: 'text !== undefined',
      becomes: 'true',
      because: 'The text "undefined" is no number either, so that none stays none; the types do not know.',
    },
  ],
  'infra/pre-traffic-hook.ts': [
    {
      code: "tables.find(({ name }) => name === 'accessTokens')?.table",
      becomes: "tables.find(({ name }) => name === 'accessTokens').table",
      because: 'Each stack has that table; the types do not know.',
    },
    { code: '!accessTokens', becomes: 'false', because: 'Each stack has that table; the types do not know.' },
    {
      code: "throw new Error('The stack has no table of access tokens.');",
      becomes: ';',
      because: 'Each stack has that table; the types do not know.',
    },
  ],
  'infra/bundle/trimmings.ts': [{ code: '[]', becomes: '["Stryker was here"]', because: 'No module has such a name.' }],
  'infra/logged-function.ts': [{ code: '[]', becomes: '["Stryker was here"]', because: 'No module has such a name.' }],
  'infra/operation-function.ts': [
    {
      code: '[]',
      becomes: '["Stryker was here"]',
      because: 'The hook before an installation never runs: none is made.',
    },
    {
      code: '() => []',
      becomes: '() => undefined',
      because: 'The hook before an installation never runs: none is made.',
    },
    { code: '() => []', becomes: '() => undefined', because: 'No list of commands is an empty one for CDK.' },
    {
      code: 'scope !== undefined',
      becomes: 'true',
      because: 'CDK leaves a variable out that is undefined; the types do not know.',
    },
  ],
  'infra/stages.ts': [
    { code: '{ default: {}, }', becomes: '{}', because: 'A stage without settings is as one that is not named.' },
  ],
  'local/dynamodb.ts': [
    { code: "''", becomes: '"Stryker was here!"', because: 'It is no address of this machine either.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'It is no address of this machine either.' },
    {
      code: 'lock.close();',
      becomes: ';',
      because: 'A lock that is not held is closed when its memory is freed, too.',
    },
    { code: '{ return undefined; }', becomes: '{}', because: 'Without the statement, undefined is returned too.' },
  ],
  'local/graceful-close.ts': [
    {
      code: '() => unanswered.delete(socket)',
      becomes: '() => undefined',
      because: 'It frees memory; to destroy a closed connection again does nothing.',
    },
  ],
  'local/lambda-worker.ts': [
    { code: "''", becomes: '"Stryker was here!"', because: 'Nobody reads what the init answers.' },
  ],
  'local/reference-page.ts': [
    { code: "''", becomes: '"Stryker was here!"', because: 'A request has a method; the types do not know.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'A request has a URL; the types do not know.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'Each text has a first part; the types do not know.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'It is no host either.' },
  ],
  'local/rest-api.ts': [
    { code: '{ ref: false }', becomes: '{}', because: 'It lets a process end sooner.' },
    { code: 'false', becomes: 'true', because: 'It lets a process end sooner.' },
  ],
  'local/service.ts': [
    { code: "'plant-store-'", becomes: '""', because: 'It is only a name of a folder for a while.' },
  ],
  'local/synthesize.ts': [
    { code: "'plant-store-'", becomes: '""', because: 'It is only a name of a folder for a while.' },
  ],
  'operate/access-tokens.ts': [
    { code: 'digest?.S', becomes: 'digest.S', because: 'Each item has its key; the types do not know.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'Each item has its key; the types do not know.' },
  ],
  'operate/client.ts': [
    { code: "{ body: '{}' }", becomes: '{}', because: 'A request without a body is refused alike.' },
    { code: "'{}'", becomes: '""', because: 'An empty body is refused alike.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'It is no number either.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'It is no type of JSON either.' },
  ],
  'operate/load-plants.ts': [
    { code: 'next += 1n', becomes: 'next -= 1n', because: 'Downwards, too, a run has ids of its own.' },
  ],
  'operate/load.ts': [
    {
      code: 'alike[0]?.example',
      becomes: 'alike[0].example',
      because: 'A group has at least one; the types do not know.',
    },
  ],
  'operate/restore-plants.ts': [
    {
      code: '[]',
      becomes: '["Stryker was here"]',
      because: 'Each page of a scan has its items; the types do not know.',
    },
  ],
  'operate/smoke/contract-checks.ts': [
    { code: "['', {}]", becomes: '[]', because: 'The remainder is never beyond the list; the types do not know.' },
    {
      code: "''",
      becomes: '"Stryker was here!"',
      because: 'The remainder is never beyond the list; the types do not know.',
    },
    { code: "''", becomes: '"Stryker was here!"', because: 'A path has a method; the types do not know.' },
    { code: '[]', becomes: '["Stryker was here"]', because: 'It is the name of no method.' },
  ],
  'operate/smoke/check.ts': [
    { code: 'response.status === 400', becomes: 'true', because: 'A 200 has no message; the types want to be told.' },
  ],
  'operate/table.ts': [
    { code: 'Stacks?.[0]', becomes: 'Stacks[0]', because: 'A stack that is described is told; the types do not know.' },
    {
      code: 'Stacks?.[0]?.Outputs',
      becomes: 'Stacks?.[0].Outputs',
      because: 'A stack that is described is told; the types do not know.',
    },
    { code: 'id?.N', becomes: 'id.N', because: 'Each item has its key; the types do not know.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'Each item has its key; the types do not know.' },
  ],
  'scripts/schema.ts': [
    { code: '[]', becomes: '["Stryker was here"]', because: 'No schema has such a name.' },
    {
      code: 'true',
      becomes: 'false',
      because: 'A keyword of our own is compiled where it stands, whatever its value.',
    },
  ],
};
