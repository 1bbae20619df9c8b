import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Action } from '../../functions/shared/dynamodb/actions.ts';
import { type Contract, contractText, parseContract } from '../../model/contract.ts';
import { projectRoot } from '../../model/project-root.ts';
import type { TableId } from '../../model/table-keys.ts';

/** An operation in `examples/`, which is not a part of the service until it is moved (docs/changing.md). */
interface Example {
  /** @example "examples/get-plant.yaml" */
  file: string;
  /** The paths of the example, with the components of openapi.yaml. */
  contract: Contract;
  /** Its line for infra/grants.ts. */
  grants: Record<string, Partial<Record<TableId, Action[]>>>;
}

/** Returns the examples that are still in the folder `examples/` of a project. Default: this project. */
export function readExamples(root = projectRoot): Example[] {
  const files = globSync('examples/*.yaml', { cwd: root }).toSorted();
  return files.map((file) => {
    const { grants, paths }: Example & Contract = parse(readFileSync(join(root, file), 'utf8'));
    return { file, grants, contract: { ...parseContract(contractText(root)), paths } };
  });
}
