import './uncaught';
import { createAccountApp } from '../lib/account/account-app';
import { warn } from './warn';

createAccountApp(undefined, undefined, warn).synth();
