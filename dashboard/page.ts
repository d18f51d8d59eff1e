import { startCopyButtons } from './copy-buttons';
import { startDeletion } from './delete-section';
import { byId } from './dom';
import { showEnvironment } from './environment-section';
import type { DashboardFacts } from './facts';
import { startHealth } from './health';
import { startOrigin } from './origin-section';
import { startVerifier } from './verify-section';

const facts = JSON.parse(byId('facts', HTMLScriptElement).textContent ?? '') as DashboardFacts;
showEnvironment(facts);
startHealth(facts);
startOrigin(facts);
startVerifier(facts);
startDeletion(facts);
startCopyButtons();
