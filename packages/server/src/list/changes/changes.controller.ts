import { Controller, Get, Query } from '@nestjs/common';
import { ChangesQueryDto } from './changes-query.dto.js';

/** What a client asks for by `/changes`. `ChangesReader` finds out what it sees of it. */
export class Changes {
  constructor(readonly query: ChangesQueryDto) {}
}

/** What changed in several resources, of one moment. */
@Controller('changes')
export class ChangesController {
  @Get()
  list(@Query() query: ChangesQueryDto): Changes {
    return new Changes(query);
  }
}
