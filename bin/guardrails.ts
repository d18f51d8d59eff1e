import './uncaught';
import { createGuardrailsApp } from '../lib/guardrails/guardrails-app';
import { warn } from './warn';

createGuardrailsApp(process.env, warn).synth();
