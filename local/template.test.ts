import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { functionBehind, readTemplate } from './template.ts';

test('an assembly of two stacks is refused with a sentence', () => {
  const assembly = mkdtempSync(join(tmpdir(), 'plant-store-'));
  onTestFinished(() => rmSync(assembly, { recursive: true }));
  cpSync(inject('assembly'), assembly, { recursive: true });
  const file = join(assembly, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  manifest.artifacts.Second = manifest.artifacts.PlantStore;
  writeFileSync(file, JSON.stringify(manifest));
  expect(() => readTemplate(assembly)).toThrow(`${assembly} holds 2 stacks; the local run needs exactly one.`);
});

test('the routes stand from the most specific to the least, so that any method never hides one', () => {
  const { routes } = readTemplate(inject('assembly'));
  const order = routes.map(({ method, resource }) => `${method} ${resource}`);
  expect(order.indexOf('POST /plants')).toBeLessThan(order.indexOf('ANY /plants'));
  expect(order.indexOf('ANY /plants')).toBeLessThan(order.indexOf('ANY /{proxy+}'));
});

test('each route to a function leads to its own, any other to a sentence', () => {
  const template = readTemplate(inject('assembly'));
  const routes = template.routes.filter(({ integration }) => 'functionName' in integration);
  const behind = routes.map(({ method, resource }) => functionBehind(template, method, resource).name);
  expect(behind.toSorted()).toEqual(template.functions.map(({ name }) => name).toSorted());
  expect(() => functionBehind(template, 'DELETE', '/plants')).toThrow(
    'DELETE /plants is no route to a function of the stack.',
  );
});
