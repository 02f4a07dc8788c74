import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Scanner;
import org.antlr.v4.runtime.*;

/**
 * Judges texts with the parser that ANTLR has written for a grammar; {@code exports.py} compiles and runs it.
 *
 * Arguments: the name of the grammar and its first rule. Reads a text per line, in base64, and writes a line with 1 for
 * each text that the grammar accepts and 0 for each other.
 */
public class AntlrJudge {
    /** Counts the mistakes that the lexer and the parser find. */
    static class Mistakes extends BaseErrorListener {
        int count = 0;

        @Override
        public void syntaxError(Recognizer<?, ?> source, Object symbol, int line, int column, String message,
                RecognitionException error) {
            count++;
        }
    }

    static boolean accepts(String text, Constructor<?> lexers, Constructor<?> parsers, String start) throws Exception {
        Mistakes mistakes = new Mistakes();
        Lexer lexer = (Lexer) lexers.newInstance(CharStreams.fromString(text));
        lexer.removeErrorListeners();
        lexer.addErrorListener(mistakes);
        Parser parser = (Parser) parsers.newInstance(new CommonTokenStream(lexer));
        parser.removeErrorListeners();
        parser.addErrorListener(mistakes);
        parser.getClass().getMethod(start).invoke(parser);
        return mistakes.count == 0 && parser.getInputStream().LA(1) == Token.EOF;
    }

    static void judge(String name, String start) {
        try (Scanner lines = new Scanner(System.in, "US-ASCII")) {
            Constructor<?> lexers = Class.forName(name + "Lexer").getConstructor(CharStream.class);
            Constructor<?> parsers = Class.forName(name + "Parser").getConstructor(TokenStream.class);
            StringBuilder verdicts = new StringBuilder();
            while (lines.hasNextLine()) {
                String text = new String(Base64.getDecoder().decode(lines.nextLine()), StandardCharsets.UTF_8);
                verdicts.append(accepts(text, lexers, parsers, start) ? '1' : '0');
            }
            System.out.println(verdicts);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        // The parser is recursive, so it gets a large stack.
        Thread thread = new Thread(null, () -> judge(arguments[0], arguments[1]), "judge", 1L << 29);
        thread.start();
        thread.join();
    }
}
