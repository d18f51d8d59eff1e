import './node-version';
import './uncaught';
import { createAccountApp } from '../lib/account/app';

createAccountApp().synth();
