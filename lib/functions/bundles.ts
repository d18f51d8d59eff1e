import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stage } from 'aws-cdk-lib';
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { DatabaseAccess } from '../../lambda/database/variables';
import { builtFor } from './builds';

export interface BundleOptions {
  /** Text files to add to the code, by name. @default - none */
  readonly files?: Readonly<Record<string, string>>;
  /** @default - the function uses no database */
  readonly databaseAccess?: DatabaseAccess | undefined;
}

/** The code of `lambda/<handlerName>/handler.ts` as one CommonJS file, `index.js`. @throws Error with esbuild's findings */
export class BundledCode extends Code {
  readonly isInline = false;

  constructor(
    private readonly handlerName: string,
    private readonly options: BundleOptions = {},
  ) {
    super();
  }

  override bind(scope: Construct): CodeConfig {
    const { files = {}, databaseAccess = 'data-api' } = this.options;
    const source = builtFor(databaseAccess).get(`${this.handlerName}/index.js`);
    if (source === undefined) throw new Error(`There is no lambda/${this.handlerName}/handler.ts.`);
    const folder = mkdtempSync(join(String(Stage.of(scope)?.outdir), 'bundle-'));
    try {
      writeFileSync(join(folder, 'index.js'), source);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      // Copies the folder into the assembly at once, so that it can be removed again here.
      return Code.fromAsset(folder, { displayName: `${databaseAccess}/${this.handlerName}` }).bind(scope);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}
