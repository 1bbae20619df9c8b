import middy from '@middy/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contextWith } from '../../../test/support/event.ts';
import { exactNumbers, InexactNumber } from './exact-numbers.ts';

/** The id that is left of a body, as the JSON parser and then exactNumbers see it. */
async function idOf(bodyText: string): Promise<unknown> {
  const stack = middy({ internal: { bodyText } })
    .use(exactNumbers([['id']]))
    .handler(async ({ body }) => (body as { id?: unknown } | null)?.id);
  return stack({ body: JSON.parse(bodyText) }, contextWith());
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test('every int64 in plain digits comes out exactly', async () => {
  await fc.assert(
    fc.asyncProperty(int64, async (id) => {
      expect(await idOf(`{"id":${id}}`)).toBe(id);
    }),
  );
});

test.each(['9007199254740992', '9007199254740993', '-9007199254740993', '9223372036854775807', '-9223372036854775808'])(
  '%s, beyond what a Number holds, comes out exactly',
  async (digits) => expect(await idOf(`{"name":"x","id": ${digits} }`)).toBe(BigInt(digits)),
);

test('every safe integer comes out as itself however it is written', async () => {
  for (const [text, id] of [
    ['7.0', 7n],
    ['-0', 0n],
    ['1e3', 1000n],
    ['-0.0', 0n],
    ['9007199254740991.0', 9007199254740991n],
    ['1.5e1', 15n],
    ['1500E-2', 15n],
    ['0e-400', 0n],
    ['0.0e5', 0n],
  ] as const) {
    expect(await idOf(`{"id":${text}}`)).toBe(id);
  }
});

test.each([
  '1.00000000000000001',
  '0.99999999999999999',
  '9007199254740990.6',
  '1e-400',
  '15e-1',
  '1.55e1',
  '1.5',
  '1e300',
  '9007199254740992.0',
  '1e18',
  '9223372036854775807.5',
  '99999999999999999999',
])('%s is left for the validator to refuse, as it was sent', async (text) => {
  const id = await idOf(`{"id":${text}}`);
  expect(id).toBeInstanceOf(InexactNumber);
  expect(id).toHaveProperty('source', text);
});

test.each(['"7"', 'true', 'null', '[true]'])('%s is left for the validator to refuse', async (text) =>
  expect(await idOf(`{"id":${text}}`)).toEqual(JSON.parse(text)),
);

test('a number with a fraction or an exponent is an id if it is a safe integer exactly', async () => {
  const digits = fc.stringMatching(/^(0|[1-9]\d{0,14})$/);
  await fc.assert(
    fc.asyncProperty(
      digits,
      fc.stringMatching(/^\d{1,20}$/),
      fc.integer({ min: -25, max: 25 }),
      async (whole, decimals, exponent) => {
        const scale = exponent - decimals.length;
        const power = 10n ** BigInt(Math.abs(scale));
        const all = BigInt(whole + decimals);
        const exact = scale >= 0 ? all * power : all % power === 0n ? all / power : undefined;
        const isId = exact !== undefined && exact <= Number.MAX_SAFE_INTEGER;
        const id = await idOf(`{"id":${whole}.${decimals}e${exponent}}`);
        if (isId) expect(id).toBe(exact);
        else expect(id).toBeInstanceOf(InexactNumber);
      },
    ),
    { numRuns: 500 },
  );
});

test('a whole number beyond int64 that has its digits stays recognisable as too large', async () => {
  expect(await idOf('{"id":9223372036854775808}')).toBe(9223372036854775808n);
});

test('a million digits take no time and no memory', async () => {
  expect(await idOf(`{"id":${'9'.repeat(1_000_000)}}`)).toBeInstanceOf(InexactNumber);
});

test('of duplicate ids the last one counts, as it does for the rest of the body', async () => {
  expect(await idOf('{"id":1,"id":9007199254740993}')).toBe(9007199254740993n);
  expect(await idOf('{"id":9007199254740993,"id":1}')).toBe(1n);
  expect(await idOf('{"\\u0069d":9007199254740993}')).toBe(9007199254740993n);
});

test('an id inside another member is not mistaken for the plant’s', async () => {
  expect(await idOf('{"parent":{"id":9007199254740993},"id":9007199254740995}')).toBe(9007199254740995n);
  expect(await idOf('{"id":9007199254740995,"parent":{"id":1}}')).toBe(9007199254740995n);
});

test.each(['null', '[]', '7', '"id"', '{}'])('the body %s passes untouched', async (text) => {
  expect(await idOf(text)).toBeUndefined();
});

test('members that are no int64 stay as they are', async () => {
  const bodyText = '{"id":1,"height":2,"parent":{"id":3}}';
  const body = JSON.parse(bodyText);
  const stack = middy({ internal: { bodyText } })
    .use(exactNumbers([['id']]))
    .handler(async (event) => event.body);
  expect(await stack({ body }, contextWith())).toEqual({ id: 1n, height: 2, parent: { id: 3 } });
});
