import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readVariables } from '../shared/environment';
import { pageFile, variables } from './environment';
import { fillPage } from './page';

export function createDependencies() {
  const { FACTS, OTHER_DASHBOARDS, RESPONSE_HEADERS } = readVariables(variables, process.env);
  const facts = { ...JSON.parse(FACTS), others: JSON.parse(OTHER_DASHBOARDS) };
  return {
    page: fillPage(readFileSync(join(__dirname, pageFile), 'utf8'), JSON.stringify(facts)),
    headers: JSON.parse(RESPONSE_HEADERS) as Readonly<Record<string, string>>,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;
