import { type DynamicModule, Module } from '@nestjs/common';
import { Settings } from './settings.js';

/** Makes the settings injectable everywhere. */
@Module({})
export class SettingsModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: SettingsModule,
      global: true,
      providers: [{ provide: Settings, useValue: settings }],
      exports: [Settings],
    };
  }
}
