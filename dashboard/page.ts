import { startCopyButtons } from './copy-buttons';
import { byId } from './dom';
import { showEnvironment } from './environment-section';
import type { DashboardFacts } from './facts';
import { startOrigin } from './origin-section';
import { startVerifier } from './verify-section';

const facts = JSON.parse(byId('facts', HTMLScriptElement).textContent ?? '') as DashboardFacts;
showEnvironment(facts);
startOrigin(facts);
startVerifier(facts);
startCopyButtons();
