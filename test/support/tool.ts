import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { DEVELOPMENT_TOKEN } from '../../local/development-token.ts';
import { projectRoot } from '../../local/synthesize.ts';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

interface Circumstances {
  variables?: NodeJS.ProcessEnv;
  directory?: string;
  input?: string;
}

/** Runs a tool of operate/ to its end, as its npm script does, with the development token in the environment. */
export function runTool(
  tool: string,
  args: string[],
  { variables, directory = projectRoot, input = '' }: Circumstances = {},
): Promise<Ended> {
  const options = { cwd: directory, env: { ...process.env, PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN, ...variables } };
  return new Promise((resolve) => {
    const file = join(projectRoot, 'operate', `${tool}.ts`);
    const child = execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}
