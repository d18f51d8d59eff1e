import './uncaught';
import { createAccountApp } from '../lib/account/account-app';
import { warn } from './warn';

createAccountApp(warn).synth();
