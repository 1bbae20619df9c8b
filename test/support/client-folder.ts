import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../model/project-root.ts';

/** The page about the client. */
export const clientsPage = readFileSync(join(projectRoot, 'docs/clients.md'), 'utf8');

/** Makes a folder after the steps of docs/clients.md. The packages are those of `test/`. */
export function makeClientFolder(contract: string) {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  for (const file of ['client.ts', 'client-types.mjs']) cpSync(join(projectRoot, 'examples', file), join(folder, file));
  writeFileSync(join(folder, 'openapi.yaml'), contract);
  symlinkSync(join(projectRoot, 'test/node_modules'), join(folder, 'node_modules'));
  const [, commands = ''] = /```sh\n(npm init .*?)```/s.exec(clientsPage) ?? [];
  execFileSync('sh', ['-ec', commands.replaceAll(/^npm install .*\n/gm, '')], { cwd: folder });

  return {
    folder,

    /** Checks the types of a program in the folder, and runs it. Returns its output. */
    async run(program: string): Promise<string> {
      writeFileSync(join(folder, 'program.ts'), program);
      const command = ['-ec', 'npx tsc; node program.ts'];
      const { stdout } = await promisify(execFile)('sh', command, { cwd: folder }).catch(({ stdout, stderr }) => {
        throw new Error(stdout + stderr);
      });
      return stdout;
    },
  };
}
